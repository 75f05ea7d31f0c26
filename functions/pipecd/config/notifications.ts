/** Notifications of an agent, in PipeCD's format. */
import type { NotificationReceiver, NotificationRoute } from "../kinds/notifications.ts";
import type { PipedConfig } from "../kinds.ts";
import { firstOfC } from "../profile.ts";
import type { Problems } from "./problems.ts";
import { given, sorted, variantOf } from "./rendering.ts";

type Notifications = NonNullable<PipedConfig["notifications"]>;

const at = "spec.config.notifications";

export function notificationsOf({ routes, receivers }: Notifications, problems: Problems) {
  const known = new Set(receivers?.map(({ name }) => name));
  return given({
    routes: routes?.map((route, index) => {
      const path = `${at}.routes[${index}]`;
      if (!known.has(route.receiver)) {
        problems.add(`${path}.receiver: the receiver ${route.receiver} does not exist`);
      }
      return routeOf(route, path, problems);
    }),
    receivers: receivers?.map((receiver, index) =>
      receiverOf(receiver, `${at}.receivers[${index}]`, problems),
    ),
  });
}

function routeOf(route: NotificationRoute, path: string, problems: Problems) {
  const { name, receiver, events, ignoreEvents, groups, ignoreGroups, apps, ignoreApps } = route;
  const common = { name, receiver, events, ignoreEvents, groups, ignoreGroups, apps, ignoreApps };
  if (problems.profile === "L0") {
    const { envs, ignoreEnvs, labels, ignoreLabels } = route;
    problems.from(firstOfC, path, { labels, ignoreLabels });
    return given({ ...common, envs, ignoreEnvs });
  }
  return given({
    ...common,
    labels: sorted(labelsOf(route, "envs", "labels", path, problems)),
    ignoreLabels: sorted(labelsOf(route, "ignoreEnvs", "ignoreLabels", path, problems)),
  });
}

/** In the profile C, labels replace environments: one environment becomes a label, several are rejected. */
function labelsOf(
  route: NotificationRoute,
  envsField: "envs" | "ignoreEnvs",
  labelsField: "labels" | "ignoreLabels",
  path: string,
  problems: Problems,
): Readonly<Record<string, string>> | undefined {
  const { [envsField]: envs = [], [labelsField]: labels } = route;
  const [env] = envs;
  if (env === undefined) return labels;
  if (envs.length > 1) {
    problems.add(
      `${path}.${envsField}: expected at most one environment from PipeCD ${firstOfC}: create one route for each`,
    );
  } else if (labels?.env !== undefined && labels.env !== env) {
    problems.add(`${path}: ${envsField} and the label env of ${labelsField} differ`);
  }
  return { ...labels, env };
}

type RenderedReceiver = { readonly name: string } & (
  | { readonly slack: Partial<NonNullable<NotificationReceiver["slack"]>> }
  | { readonly webhook: Partial<NonNullable<NotificationReceiver["webhook"]>> }
);

function receiverOf(receiver: NotificationReceiver, path: string, problems: Problems): RenderedReceiver {
  const { name } = receiver;
  const variant = variantOf(receiver, "name");
  switch (variant.type) {
    case "slack": {
      const { hookURL, oauthTokenData, oauthTokenFile, channelID, mentionedAccounts, mentionedGroups } =
        variant.config;
      const slack = `${path}.slack`;
      if (problems.profile === "L0") {
        problems.needed(slack, { hookURL });
      }
      problems.from("v0.44.0", slack, { channelID });
      problems.from("v0.45.0", slack, { oauthTokenData, oauthTokenFile, mentionedAccounts });
      problems.from("v0.48.1", slack, { mentionedGroups });
      if (problems.profile === "C") {
        problems.oneOf(slack, { hookURL, oauthTokenData, oauthTokenFile });
        if (hookURL) problems.atMostOneOf(slack, { hookURL, channelID });
        else problems.needed(slack, { channelID });
        problems.base64(slack, { oauthTokenData });
      }
      return {
        name,
        slack: given({
          hookURL,
          oauthTokenData,
          oauthTokenFile,
          channelID,
          mentionedAccounts,
          mentionedGroups,
        }),
      };
    }
    case "webhook": {
      const { url, signatureKey, signatureValue, signatureValueFile } = variant.config;
      problems.from(firstOfC, `${path}.webhook`, { signatureKey, signatureValue, signatureValueFile });
      problems.atMostOneOf(`${path}.webhook`, { signatureValue, signatureValueFile });
      return { name, webhook: given({ url, signatureKey, signatureValue, signatureValueFile }) };
    }
  }
}
