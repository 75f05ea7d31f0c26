/** The answer to a review, and how it ended, for logs and metrics. */
export interface ReviewAnswer {
  readonly review: object;
  /** `failed`: the code for the kind, or the object to convert, is at fault. */
  readonly outcome: "converted" | "allowed" | "denied" | "failed";
  /** Why it failed. */
  readonly message?: string;
  /** The error of the hook. */
  readonly cause?: unknown;
}
