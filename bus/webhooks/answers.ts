/** Tells GitHub whether a redelivery can help. */

/**
 * Status for a delivery that can never be accepted, because its payload is invalid: 422 Unprocessable Content, RFC 9110
 * section 15.5.21. Proxies do not produce it themselves, unlike 400, 404, or 413. Every other error can be fixed without
 * changing the payload: a secret (401), an address (404, 405), a limit (413), a connection (400, 408), an outage (429, 5xx).
 */
export const refusedForGood = 422;
