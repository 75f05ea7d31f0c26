/**
 * Simulates conditional requests, which the package `emulate` does not have.
 * https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api
 */
import { createHash } from "node:crypto";
import type { ApiAnswer, ApiCall } from "./call.ts";

/** Adds an ETag, the hash of the body. Answers 304 if the client already has it. */
export function conditional({ method, headers }: ApiCall, answer: ApiAnswer): ApiAnswer {
  if (method !== "GET" || answer.status !== 200) return answer;
  const etag = `W/"${createHash("sha256").update(answer.body).digest("hex")}"`;
  const known = (headers["if-none-match"] ?? "").split(/\s*,\s*/).includes(etag);
  return known
    ? { status: 304, headers: { etag }, body: "" }
    : { ...answer, headers: { ...answer.headers, etag } };
}
