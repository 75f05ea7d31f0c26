/** Messages about errors. */

/** A message, and whose words it has. */
export interface Message {
  readonly message: string;
  /** A sentence of the dashboard. Anything else, such as a message of Kubernetes, is shown after a sentence. */
  readonly isSentence?: boolean;
}

/** What the page knows about an error. The status is 0 if there was no response. */
export interface ShownError extends Message {
  readonly status: number;
}

/** An invalid field of an object. */
export interface FieldProblem extends Message {
  /** `spec.domains[0]` */
  readonly field: string;
}
