/** Whom a Piped tells of what happens. */
import { z } from "zod";
import { exactlyOne, filled, inTheOpen, most, text, texts } from "./fields.ts";

const later = "From PipeCD v0.37.1.";
const tokens = "From PipeCD v0.45.0.";
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
    .describe("Names of environments. From PipeCD v0.37.1 at most one: it becomes the label env."),
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
          .describe(`A token itself, in base64. ${inTheOpen} Use oauthTokenFile instead. ${tokens}`),
        oauthTokenFile: text.optional().describe(tokens),
        channelID: text.optional().describe("From PipeCD v0.44.0."),
        mentionedAccounts: texts.optional().describe(tokens),
        mentionedGroups: texts.optional().describe("From PipeCD v0.48.1."),
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
