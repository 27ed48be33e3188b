/** An error of a back end; its message is one line for the reader of the page. */
export class BackendError extends Error {}
