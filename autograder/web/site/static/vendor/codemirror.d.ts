// The types of the bundle, for tsc.
export * from "../../frontend/codemirror.js";
