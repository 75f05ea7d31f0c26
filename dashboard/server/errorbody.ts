/** Error responses for the page. */

/** The body of an error response: a reason for code, and a sentence for the user. */
export const errorBody = (reason: string, message: string) => ({ reason, message });

/**
 * The body of an unexpected error. The page never gets the error's own message, which may name addresses of the internal network: it
 * is logged.
 */
export const failedBody = errorBody(
  "Unavailable",
  "The dashboard could not complete the request. Try again in a moment. The reason is in the dashboard's log.",
);
