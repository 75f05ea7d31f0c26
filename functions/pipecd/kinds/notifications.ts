/** Whom a Piped tells of what happens. */
import { z } from "zod";
import { exactlyOne, filled, inTheOpen, most, text, texts } from "./fields.ts";

const later = "From PipeCD v0.49.0.";
const labels = z.record(z.string(), z.string()).optional().describe(later);

const route = z.object({
  name: filled,
  receiver: filled.describe("Name of the receiver."),
  events: texts.optional().describe("DEPLOYMENT_TRIGGERED, and so on: without EVENT_."),
  ignoreEvents: texts.optional(),
  groups: texts.optional().describe("DEPLOYMENT, APPLICATION_SYNC, and so on: without EVENT_."),
  ignoreGroups: texts.optional(),
  apps: texts.optional(),
  ignoreApps: texts.optional(),
  envs: texts
    .optional()
    .describe("Names of environments. From PipeCD v0.49.0 at most one: it becomes the label env."),
  ignoreEnvs: texts.optional().describe("The same, of those that are left out."),
  labels,
  ignoreLabels: labels,
});
/** What is told to whom. */
export type NotificationRoute = z.infer<typeof route>;

const receiver = exactlyOne(
  z.object({
    name: filled,
    slack: z
      .object({
        hookURL: text
          .optional()
          .describe(`Either this, or a token and channelID. ${inTheOpen} Use oauthTokenFile instead.`),
        oauthTokenData: text
          .optional()
          .describe(`A token itself, in base64. ${inTheOpen} Use oauthTokenFile instead. ${later}`),
        oauthTokenFile: text.optional().describe(later),
        channelID: text.optional().describe(later),
        mentionedAccounts: texts.optional().describe(later),
        mentionedGroups: texts.optional().describe(later),
      })
      .optional(),
    webhook: z
      .object({
        url: filled.describe(inTheOpen),
        signatureKey: text
          .optional()
          .describe(`Header of the signature. Default: PipeCD-Signature. ${later}`),
        signatureValue: text.optional().describe(`${inTheOpen} Use signatureValueFile instead. ${later}`),
        signatureValueFile: text.optional().describe(later),
      })
      .optional(),
  }),
  "slack",
  "webhook",
);
/** Who is told. */
export type NotificationReceiver = z.infer<typeof receiver>;

export const notifications = z
  .object({
    routes: z.array(route).max(most).optional(),
    receivers: z.array(receiver).max(most).optional(),
  })
  .describe("Whom the agent tells of what happens.");
