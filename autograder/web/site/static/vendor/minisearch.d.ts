// The types of the bundle, for tsc.
export { default } from "../../frontend/minisearch.js";
