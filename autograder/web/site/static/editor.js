// The editors of a lesson page: CodeMirror with Python, and line numbers that are those of the file.
//
// Styles and the policy. CodeMirror makes its styles in the page (package style-mod). In a document it adds a <style>
// element, which `style-src 'self'` forbids; in a shadow root it uses `adoptedStyleSheets`, which the policy allows,
// because only a script can make them. The bundle (frontend/codemirror.js) therefore gives style-mod a root that
// adopts style sheets for the whole document. So `style-src 'self'` is enough: no nonce, no 'unsafe-inline'. Inline
// styles that CodeMirror sets (positions, heights) go through the style object, which a policy does not restrict.
// tests/web/site/test_lesson_cells.py checks in Chromium that nothing violates the policy.

import {
  Annotation, Compartment, Decoration, EditorState, EditorView, HighlightStyle, MergeView, StateEffect, StateField,
  bracketMatching, closeBrackets, closeBracketsKeymap, highlightActiveLine, highlightActiveLineGutter, indentOnInput,
  indentUnit, indentWithTab, keymap, lineNumbers, minimalSetup, python, syntaxHighlighting, tags, unifiedMergeView,
} from "./vendor/codemirror.js";

const LEAVE_MILLISECONDS = 30_000; // for how long Tab leaves the editor after Escape, unless another key comes first
const UNCHANGED = { margin: 2, minSize: 4 }; // lines around a difference that are shown, and how many are folded at least
const WIDE = "(min-width: 60rem)"; // where two texts fit side by side

const theme = EditorView.theme({
  "&": { color: "var(--ink)", backgroundColor: "var(--editor-paper)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5" },
  ".cm-content": { caretColor: "var(--ink)", padding: "0.5rem 0" },
  ".cm-cursor, .cm-dropCursor": { borderLeftColor: "var(--ink)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground":
    { backgroundColor: "var(--editor-selection)" },
  ".cm-activeLine": { backgroundColor: "transparent" },
  "&.cm-focused .cm-activeLine": { backgroundColor: "var(--editor-active-line)" },
  ".cm-gutters": { color: "var(--soft)", backgroundColor: "transparent", border: "none" },
  ".cm-activeLineGutter": { color: "var(--ink)", backgroundColor: "transparent" },
  ".cm-lineNumbers .cm-gutterElement": { minWidth: "2.5rem" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--editor-selection)" },
  "&.cm-focused .cm-nonmatchingBracket": { backgroundColor: "transparent", textDecoration: "underline wavy" },
  ".cm-line.cm-reported": { backgroundColor: "var(--editor-reported)" },
  "&.cm-merge-a .cm-changedLine, .cm-deletedChunk": { backgroundColor: "var(--editor-removed)" },
  "&.cm-merge-b .cm-changedLine, .cm-inlineChangedLine": { backgroundColor: "var(--editor-added)" },
  "&.cm-merge-a .cm-changedText, .cm-deletedChunk .cm-deletedText": { background: "var(--editor-removed-text)" },
  "&.cm-merge-b .cm-changedText": { background: "var(--editor-added-text)" },
  ".cm-collapsedLines": { color: "var(--ink)", background: "var(--editor-active-line)" },
  ".cm-collapsedLines::before, .cm-collapsedLines::after": { content: '"⋯"' },
});

const colors = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: "var(--code-keyword)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--code-text)" },
  { tag: [tags.comment], color: "var(--code-comment)", fontStyle: "italic" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--code-number)" },
  { tag: [tags.function(tags.definition(tags.variableName)), tags.className], color: "var(--code-name)" },
]);

/** Wrapped lines are indented like their first part. A class for each depth, because a policy forbids style attributes. */
const DEEPEST = 10; // levels of four spaces
const wrapped = EditorView.theme(Object.fromEntries(Array.from({ length: DEEPEST + 1 }, (_, depth) => [
  `.cm-line.cm-depth-${depth}`,
  { textIndent: `-${depth * 4 + 2}ch`, paddingLeft: `calc(${depth * 4 + 2}ch + 6px)` },
])));
const depths = Array.from({ length: DEEPEST + 1 }, (_, depth) => Decoration.line({ class: `cm-depth-${depth}` }));
const wrapping = [
  EditorView.lineWrapping,
  wrapped,
  EditorView.decorations.compute(["doc"], (state) => {
    const marks = [];
    for (let number = 1; number <= state.doc.lines; number += 1) {
      const { from, text } = state.doc.line(number);
      const depth = Math.floor((text.length - text.trimStart().length) / 4);
      marks.push(depths[Math.min(depth, DEEPEST)].range(from));
    }
    return Decoration.set(marks);
  }),
];

const language = [python(), indentUnit.of("    "), EditorState.tabSize.of(4), syntaxHighlighting(colors), theme];

/** Marks a change that the page makes, such as taking over the text of the file. */
const byPage = Annotation.define();

/** Marks the line that begins at a position; null removes the mark. @type {any} */
const reportedLine = StateEffect.define();
const reported = StateField.define({
  create: () => Decoration.none,
  update(marks, transaction) {
    const effect = transaction.effects.find((one) => one.is(reportedLine));
    if (!effect) return transaction.docChanged ? Decoration.none : marks;
    if (effect.value === null) return Decoration.none;
    return Decoration.set([Decoration.line({ class: "cm-reported" }).range(effect.value)]);
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** Return line numbers that begin with the number of a line in the file. @param {number} first */
const numbered = (first) => lineNumbers({ formatNumber: (number) => String(number + first - 1) });

/**
 * Type over a selection. Chromium would first style the new text like the old, which the policy forbids and reports.
 * @param {InputEvent} event
 * @param {EditorView} view
 */
function replaceSelection(event, view) {
  const { from, to, empty } = view.state.selection.main;
  const text = event.data;
  if (event.inputType !== "insertText" || !text || empty || view.composing) return false;
  const insert = () => view.state.update(view.state.replaceSelection(text), { userEvent: "input.type" });
  const handlers = view.state.facet(EditorView.inputHandler); // such as the one that closes brackets
  if (!handlers.some((handle) => handle(view, from, to, text, insert))) view.dispatch(insert());
  event.preventDefault();
  return true;
}

/** An editor for the text of one cell. */
export class Editor {
  /**
   * @param {object} options
   * @param {HTMLElement} options.parent
   * @param {string} options.text
   * @param {number} options.line number of the first line in the file
   * @param {string} options.label what a screen reader calls the editor
   * @param {string} options.describedBy id of the element that says how to leave the editor
   * @param {(text: string) => void} options.onEdit is called after the student has changed the text
   * @param {() => void} options.onCheck is called for Ctrl-Enter and Cmd-Enter
   */
  constructor({ parent, text, line, label, describedBy, onEdit, onCheck }) {
    this._numbers = new Compartment();
    this._locked = new Compartment();
    this.line = line;
    const check = () => {
      onCheck();
      return true;
    };
    this.view = new EditorView({
      parent,
      doc: text,
      extensions: [
        keymap.of([{ key: "Mod-Enter", run: check }, { key: "Ctrl-Enter", run: check }]),
        this._numbers.of(numbered(line)),
        this._locked.of([]),
        minimalSetup,
        language,
        wrapping,
        highlightActiveLine(),
        highlightActiveLineGutter(),
        indentOnInput(),
        bracketMatching(),
        closeBrackets(),
        reported,
        keymap.of([...closeBracketsKeymap, indentWithTab]),
        EditorView.contentAttributes.of({
          "aria-label": label, "aria-describedby": describedBy, spellcheck: "false", tabindex: "0",
        }),
        EditorView.domEventHandlers({
          keyup: (event, view) => {
            if (event.key === "Escape") view.setTabFocusMode(LEAVE_MILLISECONDS);
          },
          beforeinput: replaceSelection,
        }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged && !update.transactions.some((transaction) => transaction.annotation(byPage))) {
            onEdit(this.text);
          }
        }),
      ],
    });
  }

  /** The text in the editor. */
  get text() {
    return this.view.state.doc.toString();
  }

  /**
   * Replace the text from outside. Only what differs is replaced, so that the cursor stays where it is.
   * @param {string} text
   */
  replace(text) {
    const old = this.text;
    if (text === old) return;
    const most = Math.min(old.length, text.length);
    let start = 0;
    while (start < most && old[start] === text[start]) start += 1;
    let end = 0;
    while (end < most - start && old[old.length - 1 - end] === text[text.length - 1 - end]) end += 1;
    this.view.dispatch({
      changes: { from: start, to: old.length - end, insert: text.slice(start, text.length - end) },
      annotations: byPage.of(true),
    });
  }

  /** Say at which line of the file the text begins. @param {number} line */
  setLine(line) {
    if (line === this.line) return;
    this.line = line;
    this.view.dispatch({ effects: this._numbers.reconfigure(numbered(line)) });
  }

  /** Return whether the text contains a line of the file. @param {number} line */
  contains(line) {
    return this.line <= line && line < this.line + this.view.state.doc.lines;
  }

  /** Put the cursor on a line of the file, mark it and scroll to it. @param {number} line */
  goTo(line) {
    const { from, text } = this.view.state.doc.line(line - this.line + 1);
    this.view.dispatch({
      selection: { anchor: from + text.length - text.trimStart().length },
      effects: [reportedLine.of(from), EditorView.scrollIntoView(from, { y: "center" })],
    });
    this.view.focus();
  }

  /** Remove the mark of a line. */
  unmark() {
    this.view.dispatch({ effects: reportedLine.of(null) });
  }

  /** Forbid or allow typing. @param {boolean} locked */
  lock(locked) {
    this.view.dispatch({ effects: this._locked.reconfigure(EditorState.readOnly.of(locked)) });
  }

  focus() {
    this.view.focus();
  }
}

/** What the views of a text have that nobody edits. @param {string} label */
const readOnly = (label) => [
  lineNumbers(), minimalSetup, language, wrapping, EditorState.readOnly.of(true),
  EditorView.contentAttributes.of({ "aria-label": label }),
];

/** Show a text that cannot be edited. @param {string} text @param {string} label @returns {HTMLElement} */
export function showText(text, label) {
  return new EditorView({ doc: text, extensions: readOnly(label) }).dom;
}

/**
 * Show two texts and mark what differs: side by side where there is room, else the lines of both in one text.
 * @param {{label: string, text: string}} first
 * @param {{label: string, text: string}} second
 * @returns {{element: HTMLElement, isUnified: boolean}}
 */
export function showDifferences(first, second) {
  if (matchMedia(WIDE).matches) {
    const view = new MergeView({
      a: { doc: first.text, extensions: readOnly(first.label) },
      b: { doc: second.text, extensions: readOnly(second.label) },
      collapseUnchanged: UNCHANGED,
      gutter: false,
    });
    return { element: view.dom, isUnified: false };
  }
  const merge = unifiedMergeView({
    original: first.text, mergeControls: false, collapseUnchanged: UNCHANGED, gutter: false,
  });
  const label = `${first.label} and ${second.label}`;
  return { element: new EditorView({ doc: second.text, extensions: [readOnly(label), merge] }).dom, isUnified: true };
}
