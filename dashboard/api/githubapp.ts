/** Creating a GitHub App from the page: what the page sends, what the server answers, and what both know. */
import { z } from "zod";

/** Permissions that the platform needs, with the least level. The manifest and the page list them. */
export const appPermissions = {
  contents: "read",
  deployments: "write",
  metadata: "read",
  pull_requests: "write",
  statuses: "write",
} as const;

/** Webhook events that functions receive. Every App also gets the events about its installations. */
export const appEvents = ["push", "pull_request", "repository"] as const;

/** GitHub's limit for names of Apps. */
const maxName = 34;
/** The gateway's limit for names of hooks. */
const maxHook = 63;

/** Name of the hook of an App: the last part of its webhook URL. */
export const hookOf = (namespace: string, name: string): string => `${namespace}.${name}`;

/** Name of the Secret with the App's private key. */
export const keySecretName = (name: string): string => `${name}-key`;

/** Key of the App's private key in its Secret. */
export const privateKeyName = "private-key.pem";
/** Key of the webhook secret in that Secret, until an operator has given it to the gateways. */
export const webhookSecretName = "webhook-secret";

/** The Secret from which the gateways read webhook secrets. */
export const gatewaySecretName = "denrei-webhook-secrets";

/** The URL of the App's webhooks, at the public address of the gateways. */
export const webhookUrlOf = (gateway: string, namespace: string, name: string): string =>
  `${gateway.replace(/\/+$/, "")}/github/${hookOf(namespace, name)}`;

const label = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const webAddress = /^https?:\/\/[^\s?#@]+$/;
const expected = "Use lowercase letters, digits, and dashes. Start and end with a letter or digit.";

/** What the user enters. */
export const newAppSchema = z
  .object({
    /** Web address of GitHub. */
    url: z.string("Choose a GitHub."),
    namespace: z.string("Enter a namespace.").regex(label, expected).max(63, "Use at most 63 characters."),
    /** Name of the GitHubApp, and the proposed name of the App. */
    name: z.string("Enter a name.").regex(label, expected).max(maxName, `Use at most ${maxName} characters.`),
    /** Login of the organization that owns the App. The user's own account if undefined. */
    organization: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,38}$/, "This is not the name of an organization on GitHub.")
      .optional(),
    /** Public address of the gateways. Without one, the App has no webhooks. */
    gateway: z
      .string()
      .regex(webAddress, "Enter a web address such as https://hooks.example.com.")
      .max(500, "Use at most 500 characters.")
      .optional(),
  })
  .refine(({ namespace, name }) => hookOf(namespace, name).length <= maxHook, {
    path: ["name"],
    error: `Namespace and name are too long for a webhook URL. Use at most ${maxHook - 1} characters in total.`,
  });
export type NewApp = z.output<typeof newAppSchema>;

/** An App that GitHub has created, and whose keys are not stored yet. */
export interface UnstoredApp {
  readonly namespace: string;
  readonly name: string;
  /** Address of the App's settings on GitHub, if its keys have been fetched. */
  readonly settings?: string;
  /** When the dashboard forgets it. RFC 3339. */
  readonly endsAt: string;
}

/** The response to `GET /api/github/apps`. */
export interface AppSettings {
  /** Web addresses of the GitHubs on which Apps can be created. */
  readonly urls: readonly string[];
  /** The namespace with the gateways' Secret. */
  readonly platformNamespace: string;
  readonly unstored?: UnstoredApp;
}

/** The response to `POST /api/github/apps`: what the browser posts to GitHub, as the form field `manifest`. */
export interface AppForm {
  readonly action: string;
  readonly manifest: string;
}

/** The response to `GET /api/github/apps/<namespace>/<name>`: an App as GitHub describes it. */
export interface RegisteredAppView {
  readonly appName: string;
  /** Web address of its GitHub. */
  readonly url: string;
  /** Address at which it can be installed on an account. */
  readonly install: string;
  /** Whether its webhook secret still has to be given to the gateways. */
  readonly isWebhookSecretKept: boolean;
}

/** The response to `GET /api/github/apps/<namespace>/<name>/installations/<id>`. */
export interface AppInstallation {
  readonly id: number;
  readonly account: string;
  readonly repositorySelection: "all" | "selected";
  /** Web address of its GitHub. */
  readonly url: string;
}

/** Why a created App was not stored. Fixed words, because anyone can put a message into a URL. */
export const appOutcomes = ["session", "code", "unavailable", "unstored"] as const;
export type AppOutcome = (typeof appOutcomes)[number];
