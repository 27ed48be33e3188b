// The full-text search of the site: see static/search.js.
export { default } from "minisearch";
