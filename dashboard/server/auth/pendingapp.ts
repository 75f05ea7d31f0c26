/** A GitHub App that a user is creating: the part of the session that remembers it. */
import { z } from "zod";

/** How long it is remembered: as long as GitHub's code is valid. Milliseconds. */
export const pendingAppMillis = 3_600_000;

export const pendingAppSchema = z.object({
  /** Returned by GitHub. Accepted once. */
  state: z.string(),
  /** Web address of GitHub. */
  url: z.string(),
  namespace: z.string(),
  name: z.string(),
  /** Milliseconds since the epoch. */
  endsAt: z.number(),
  /** Where it stopped after GitHub created the App. A retry continues there. */
  rest: z
    .union([
      z.object({ code: z.string() }),
      z.object({
        id: z.int(),
        slug: z.string(),
        ownerPath: z.string(),
        privateKey: z.string(),
        webhookSecret: z.string().nullable(),
      }),
    ])
    .optional(),
});
export type PendingApp = z.output<typeof pendingAppSchema>;
