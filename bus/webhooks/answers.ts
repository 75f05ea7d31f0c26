/** What the gateway's answer to a delivery says about delivering it again. */

/**
 * The delivery can never be accepted, however often it is delivered: its payload is wrong. 422 Unprocessable Content, RFC 9110
 * section 15.5.21. Proxies do not answer with it by themselves, as they do with 400, 404 or 413. Every other error can be repaired without
 * changing the payload: a secret (401), an address (404, 405), a limit (413), a connection (400, 408), an outage (429, 5xx).
 */
export const refusedForGood = 422;
