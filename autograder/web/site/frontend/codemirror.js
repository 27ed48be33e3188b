// What the editors of the lesson pages use of CodeMirror: see static/editor.js.
import { StyleModule } from "style-mod";

export { closeBrackets, closeBracketsKeymap } from "@codemirror/autocomplete";
export { indentLess, indentMore, indentWithTab } from "@codemirror/commands";
export { python } from "@codemirror/lang-python";
export { HighlightStyle, bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
export { MergeView, unifiedMergeView } from "@codemirror/merge";
export { Annotation, Compartment, EditorState, Prec, StateEffect, StateField, Transaction } from "@codemirror/state";
export {
  Decoration, EditorView, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers,
} from "@codemirror/view";
export { tags } from "@lezer/highlight";
export { minimalSetup } from "codemirror";

// CodeMirror adds its styles to a document in a <style> element, which `style-src 'self'` forbids. In a shadow root it
// uses `adoptedStyleSheets`, which a policy allows, because only a script can make them. This root has no `head`, like
// a shadow root, and adopts style sheets for the whole document.
const root = {
  ownerDocument: document,
  get adoptedStyleSheets() {
    return document.adoptedStyleSheets;
  },
  set adoptedStyleSheets(sheets) {
    document.adoptedStyleSheets = sheets;
  },
};
const mount = StyleModule.mount;
StyleModule.mount = (_, modules) => mount.call(StyleModule, /** @type {any} */ (root), modules);
