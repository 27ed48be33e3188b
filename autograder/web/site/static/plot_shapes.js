// The parts of a plot: text, broken into lines, and the scale of an axis.

import { shape } from "./dom.js";

export const LINE = 16; // height of a line of text
export const CHARACTER = 6.6; // width of a character, roughly

/**
 * @typedef {{at: number, label: string}} Tick
 * @typedef {{label: string, low: number, high: number, log: boolean, reversed: boolean, ticks: Tick[]}} Axis
 */

/** Return the function from values to places. @param {Axis} axis @param {number} start @param {number} end */
export function scaleOf(axis, start, end) {
  const place = axis.log ? Math.log10 : Number;
  const low = place(axis.low);
  const share = (end - start) / (place(axis.high) - low);
  return (/** @type {number} */ value) => start + (place(value) - low) * share;
}

/**
 * Break text into lines of at most a width, between words.
 * @param {string} words
 * @param {number} width
 * @returns {string[]}
 */
export function wrap(words, width) {
  const most = Math.max(8, Math.floor(width / CHARACTER));
  /** @type {string[]} */
  const lines = [];
  for (const word of words.split(" ").map((part) => fit(part, most * CHARACTER))) {
    const last = lines[lines.length - 1];
    if (last !== undefined && last.length + 1 + word.length <= most) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/**
 * @param {string} content
 * @param {number} x
 * @param {number} y
 * @param {string} name
 */
export function text(content, x, y, name) {
  return shape("text", { class: name, x, y }, content);
}

/** @param {number} value */
export function round(value) {
  return Math.round(value * 10) / 10;
}

/** Return the beginning of a text that is too long for a width. @param {string} words @param {number} width */
export function fit(words, width) {
  const most = Math.max(3, Math.floor(width / CHARACTER + 0.5));
  return words.length <= most ? words : `${words.slice(0, most - 1)}…`;
}
