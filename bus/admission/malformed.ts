/** Errors of requests that are not reviews. */
import { z } from "zod";

/** The request is not a review. The message names its fields. */
export class MalformedReviewError extends Error {
  override readonly name = "MalformedReviewError";

  constructor(expected: string, cause: z.ZodError) {
    super(`${expected}: ${z.prettifyError(cause)}`, { cause });
  }
}
