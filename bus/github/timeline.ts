/** Events of a pull request. https://docs.github.com/en/rest/issues/timeline and its events */
import { z } from "zod";

/** An event that concerns approvals of commits. Times are GitHub's; logins are undefined for deleted accounts. */
export type TimelineEvent =
  | {
      readonly type: "labeled" | "unlabeled";
      readonly label: string;
      readonly by: string | undefined;
      readonly at: Date;
    }
  | {
      readonly type: "reviewed";
      readonly state: "approved" | "changes_requested" | "dismissed" | "commented";
      /** The commit that the reviewer saw. */
      readonly commit: string;
      readonly by: string | undefined;
    }
  /** A force push: the branch was moved to a commit that does not follow the previous one. */
  | { readonly type: "force-pushed"; readonly at: Date };

const time = z.iso.datetime({ offset: true }).transform((text) => new Date(text));
const account = z.object({ login: z.string() }).nullish();

const labelChange = z
  .object({
    event: z.enum(["labeled", "unlabeled"]),
    actor: account,
    label: z.object({ name: z.string() }),
    created_at: time,
  })
  .transform(
    ({ event, actor, label, created_at }): TimelineEvent => ({
      type: event,
      label: label.name,
      by: actor?.login,
      at: created_at,
    }),
  );

const states = ["approved", "changes_requested", "dismissed", "commented"] as const;

const review = z
  .object({
    event: z.literal("reviewed"),
    state: z
      .string()
      .transform((state) => state.toLowerCase())
      .pipe(z.enum(states)),
    commit_id: z.string(),
    user: account,
  })
  .transform(
    ({ state, commit_id, user }): TimelineEvent => ({
      type: "reviewed",
      state,
      commit: commit_id,
      by: user?.login,
    }),
  );

const forcePush = z
  .object({ event: z.enum(["head_ref_force_pushed", "head_ref_restored"]), created_at: time })
  .transform(({ created_at }): TimelineEvent => ({ type: "force-pushed", at: created_at }));

/** A known event with an unexpected form must not be skipped: it may revoke an approval. */
const known: readonly unknown[] = [
  "labeled",
  "unlabeled",
  "reviewed",
  "head_ref_force_pushed",
  "head_ref_restored",
];
const other = z
  .object({ event: z.string().optional(), state: z.string().optional() })
  .refine(
    ({ event, state }) => !known.includes(event) || (event === "reviewed" && /^pending$/i.test(state ?? "")),
  )
  .transform(() => undefined);

/** A page of a timeline, without events that do not concern approvals. */
export const timelineAnswer: z.ZodType<TimelineEvent[]> = z
  .array(z.union([labelChange, review, forcePush, other]))
  .transform((events) => events.filter((event) => event !== undefined));

/** https://docs.github.com/en/rest/collaborators/collaborators#get-repository-permissions-for-a-user */
export const permissionAnswer = z.object({ permission: z.string() });
