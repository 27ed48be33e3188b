// The text of one cell and the file: when it is saved, in which words the page says so, what a conflict is.

import { BackendError } from "./backend_error.js";
import { keep, kept } from "./storage.js";

const PAUSE_MILLISECONDS = 1000; // after the last key

/**
 * @typedef {{text: string, digest: string}} Version the text of a cell in the file
 *
 * @typedef {object} Callbacks
 * @property {(state: "saved" | "typed" | "saving" | "failed" | "conflict", message: string) => void} onState
 * @property {(file: Version) => void} onConflict the file has changed, and the text in the page, too
 * @property {(text: string) => void} onReplace the file has changed, and the page takes its text over
 * @property {(reply: any) => void} onSaved the text is saved: the reply has its line in the file, and the progress
 */

/** Keeps typed text in the tab until it is saved, so that a reload loses nothing. */
export class Drafts {
  /** @param {string} workspace */
  constructor(workspace) {
    this._prefix = `headway-draft:${workspace}:`;
  }

  /** @param {string} name @returns {Version | null} */
  get(name) {
    return kept("sessionStorage", this._prefix + name);
  }

  /** Keep a text and the digest of the file's text that it was made from. @param {string} name @param {Version | null} draft */
  set(name, draft) {
    keep("sessionStorage", this._prefix + name, draft);
  }
}

/** The text of one cell. `text` is what the page shows; `saved` and `digest` are what the file is known to contain. */
export class SavedText {
  /**
   * @param {string} name the function's qualified name
   * @param {Version} file
   * @param {{request: (action: string, payload: object) => Promise<any>}} connection
   * @param {Drafts} drafts
   * @param {Callbacks} callbacks
   */
  constructor(name, file, connection, drafts, callbacks) {
    this._name = name;
    this._connection = connection;
    this._drafts = drafts;
    this._callbacks = callbacks;
    this.text = this.saved = file.text;
    this.digest = file.digest;
    /** @type {Version | null} */
    this.conflict = null;
    /** @type {Promise<boolean> | null} */
    this._saving = null;
    /** @type {Set<string>} */
    this._former = new Set(); // digests of what this page has read and replaced
    this._timer = 0;
    this.failure = "";
  }

  /** Whether the page has text that the file does not have. */
  get isDirty() {
    return this.text !== this.saved;
  }

  /** Take what the student has typed, and save it after a pause. @param {string} text */
  type(text) {
    this.text = text;
    if (this.conflict) return;
    if (!this.isDirty && !this._saving) {
      this._clean();
      return;
    }
    this._drafts.set(this._name, { text, digest: this.digest });
    this._callbacks.onState("typed", "");
    clearTimeout(this._timer);
    this._timer = setTimeout(() => this.save(), PAUSE_MILLISECONDS);
  }

  /** Take over the draft of an earlier page, if there is one. Returns its text, or null. */
  restore() {
    const draft = this._drafts.get(this._name);
    if (!draft || draft.text === this.saved) {
      this._drafts.set(this._name, null);
      return null;
    }
    this.text = draft.text;
    if (draft.digest !== this.digest) this._meet({ text: this.saved, digest: this.digest });
    return draft.text;
  }

  /** Save what was typed. Returns whether the file now contains it. */
  async save() {
    clearTimeout(this._timer);
    while (this.isDirty && !this.conflict) {
      // One save at a time: the next one needs the digest that this one returns.
      const joined = this._saving !== null;
      this._saving ??= this._saveOnce().finally(() => (this._saving = null));
      if (!(await this._saving) && !joined) return false;
    }
    return !this.conflict;
  }

  async _saveOnce() {
    const text = this.text;
    this._callbacks.onState("saving", "");
    try {
      const payload = { function: this._name, text, digest: this.digest };
      this._former.add(this.digest);
      const reply = await this._connection.request("save", payload);
      if (reply.conflict && reply.conflict.text !== text) {
        this._meet(reply.conflict);
        return false;
      }
      this.saved = text;
      this.digest = (reply.conflict ?? reply).digest;
      if (!reply.conflict) this._callbacks.onSaved(reply);
    } catch (error) {
      if (!(error instanceof BackendError)) throw error;
      this.failure = error.message;
      this._callbacks.onState("failed", error.message);
      return false;
    }
    if (!this.isDirty) this._clean();
    return true;
  }

  /**
   * Take note of what the file contains now.
   * @param {Version} file
   * @param {boolean} isCertain false for an event, which may be older than the latest save
   * @returns {Promise<boolean>} false if it may be old: then ask for what the file contains
   */
  async fileChanged(file, isCertain) {
    if (this._saving) await this._saving; // the event may be about our own save
    if (file.digest === this.digest) {
      this.type(this.text); // It is saved again, or saved now, if the file was gone.
      return true;
    }
    if (!isCertain && this._former.has(file.digest)) return false;
    if (file.text === this.text) {
      this.saved = file.text;
      this.digest = file.digest;
      this.conflict = null;
      this._clean();
    } else if (this.isDirty) {
      this._meet(file);
    } else {
      this.replace(file);
    }
    return true;
  }

  /** The file does not have the text any more: keep it in the tab. */
  lose() {
    this._drafts.set(this._name, { text: this.text, digest: this.digest });
    this._callbacks.onState("failed", "");
  }

  /** Show the text of the file. @param {Version} file */
  replace(file) {
    this.text = this.saved = file.text;
    this.digest = file.digest;
    this.conflict = null;
    this._clean();
    this._callbacks.onReplace(file.text);
  }

  /** End a conflict: keep the text of the page, or take that of the file. @param {"page" | "file"} choice */
  async resolve(choice) {
    const file = this.conflict;
    if (!file) return;
    this.conflict = null;
    if (choice === "file") {
      this.replace(file);
      return;
    }
    this.saved = file.text;
    this.digest = file.digest;
    await this.save();
  }

  /** @param {Version} file */
  _meet(file) {
    clearTimeout(this._timer);
    this.conflict = file;
    this._drafts.set(this._name, { text: this.text, digest: this.digest });
    this._callbacks.onState("conflict", "");
    this._callbacks.onConflict(file);
  }

  _clean() {
    clearTimeout(this._timer);
    this.failure = "";
    this._drafts.set(this._name, null);
    this._callbacks.onState("saved", "");
  }
}
