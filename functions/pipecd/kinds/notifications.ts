/** Notifications of a Piped: routes and receivers. */
import { z } from "denrei/kinds";
import { exactlyOne, maxEntries, nonEmpty, plaintextWarning, text, texts } from "./fields.ts";

const later = "Since PipeCD v0.37.1.";
const tokens = "Since PipeCD v0.45.0.";
const labels = z.record(z.string(), z.string()).optional().describe(later);

const route = z.object({
  name: nonEmpty,
  receiver: nonEmpty.describe("Name of the receiver."),
  events: texts.optional().describe("Event names without EVENT_, such as DEPLOYMENT_TRIGGERED."),
  ignoreEvents: texts.optional(),
  groups: texts.optional().describe("Event groups without EVENT_, such as DEPLOYMENT or APPLICATION_SYNC."),
  ignoreGroups: texts.optional(),
  apps: texts.optional(),
  ignoreApps: texts.optional(),
  envs: texts
    .optional()
    .describe("Names of environments. Since PipeCD v0.37.1 at most one: it becomes the label env."),
  ignoreEnvs: texts.optional().describe("Names of excluded environments. Since PipeCD v0.37.1 at most one."),
  labels,
  ignoreLabels: labels,
});
/** Selects the events for a receiver. */
export type NotificationRoute = z.infer<typeof route>;

const receiver = exactlyOne(
  z.object({
    name: nonEmpty,
    slack: z
      .object({
        hookURL: text
          .optional()
          .describe(
            `Webhook URL, instead of a token and channelID. ${plaintextWarning} Use oauthTokenFile instead.`,
          ),
        oauthTokenData: text
          .optional()
          .describe(`The token in base64. ${plaintextWarning} Use oauthTokenFile instead. ${tokens}`),
        oauthTokenFile: text.optional().describe(tokens),
        channelID: text.optional().describe("Since PipeCD v0.44.0."),
        mentionedAccounts: texts.optional().describe(tokens),
        mentionedGroups: texts.optional().describe("Since PipeCD v0.48.1."),
      })
      .optional(),
    webhook: z
      .object({
        url: nonEmpty.describe(plaintextWarning),
        signatureKey: text
          .optional()
          .describe(`Name of the signature header. Default: PipeCD-Signature. ${later}`),
        signatureValue: text
          .optional()
          .describe(`${plaintextWarning} Use signatureValueFile instead. ${later}`),
        signatureValueFile: text.optional().describe(later),
      })
      .optional(),
  }),
  "slack",
  "webhook",
);
/** A destination of notifications. */
export type NotificationReceiver = z.infer<typeof receiver>;

export const notifications = z
  .object({
    routes: z.array(route).max(maxEntries).optional(),
    receivers: z.array(receiver).max(maxEntries).optional(),
  })
  .describe("Notifications that the agent sends.");
