/** Schemas of GitHub's responses, reduced to the fields in use. Field meanings: https://docs.github.com/en/rest/apps */
import { z } from "zod";

/** Permissions of a token or an App: `contents` → `read`. GitHub's list of names grows. */
export type Permissions = Readonly<Record<string, string>>;

/** An App as GitHub describes it. */
export interface RegisteredApp {
  readonly id: number;
  /** Its name in URLs; `<slug>[bot]` is its user. */
  readonly slug: string;
  /** Its OAuth client, with which users authorize it. Old servers do not report it. */
  readonly clientId?: string;
  readonly name: string;
  readonly permissions: Permissions;
  /** The webhook events that it receives. */
  readonly events: readonly string[];
}

/** An account on which an App is installed. */
export interface GitHubAccount {
  readonly login: string;
  readonly type: string;
}

/** An installation of an App in an account. */
export interface GitHubInstallation {
  readonly id: number;
  readonly appId: number;
  /** A user, an organization, or an enterprise, whose slug is its login here. Undefined for a deleted account. */
  readonly account: GitHubAccount | undefined;
  readonly repositorySelection: "all" | "selected";
  readonly permissions: Permissions;
  /** Set while the installation is suspended and gets no tokens. */
  readonly suspendedAt?: Date;
}

/** A token of an installation, of any length and form. */
export interface InstallationToken {
  readonly token: string;
  readonly expiresAt: Date;
  readonly permissions: Permissions;
  readonly repositorySelection: "all" | "selected";
  /** The token's repositories, if it is limited to some. */
  readonly repositories?: readonly { readonly id: number; readonly fullName: string }[];
}

/** One attempt to deliver a webhook event. */
export interface HookDelivery {
  /** Id of the attempt. Text, because these numbers exceed JavaScript's safe integers. */
  readonly id: string;
  /** Id of the event: the same for each attempt, and the value of the header `X-GitHub-Delivery`. */
  readonly guid: string;
  readonly deliveredAt: Date;
  readonly redelivery: boolean;
  /** `OK`, or the error. */
  readonly status: string;
  /** Status code of the receiver's answer; 0 without an answer. */
  readonly statusCode: number;
  readonly event: string;
  readonly action?: string;
  readonly installationId?: number;
  readonly repositoryId?: number;
}

/** Errors of a `z.record` would quote the keys of the response, which may be any text. */
const permissions = z.custom<Permissions>(
  (value) =>
    typeof value === "object" &&
    value !== null &&
    Object.values(value).every((one) => typeof one === "string"),
  "expected names with text",
);
const selection = z.enum(["all", "selected"]);
const time = z.iso.datetime({ offset: true }).transform((text) => new Date(text));
/** octokit returns unsafe numbers as bigint. */
const longId = z.union([z.int(), z.bigint()]).transform(String);

export const appAnswer: z.ZodType<RegisteredApp> = z
  .object({
    id: z.int(),
    slug: z.string(),
    client_id: z.string().optional(),
    name: z.string(),
    permissions,
    events: z.array(z.string()),
  })
  .transform(({ client_id, ...app }) => ({
    ...app,
    ...(client_id !== undefined && { clientId: client_id }),
  }));

/** Users and organizations have a login, enterprises a slug. https://docs.github.com/en/rest/apps/apps#get-an-installation-for-the-authenticated-app */
export const accountAnswer: z.ZodType<GitHubAccount | undefined> = z
  .union([
    z.object({ login: z.string(), type: z.string().default("Organization") }),
    z.object({ slug: z.string() }).transform(({ slug }) => ({ login: slug, type: "Enterprise" })),
  ])
  .nullable()
  .transform((account) => account ?? undefined);

export const installationAnswer: z.ZodType<GitHubInstallation> = z
  .object({
    id: z.int(),
    app_id: z.int(),
    account: accountAnswer,
    repository_selection: selection,
    permissions,
    suspended_at: time.nullish(),
  })
  .transform(({ app_id, repository_selection, suspended_at, ...rest }) => ({
    ...rest,
    appId: app_id,
    repositorySelection: repository_selection,
    ...(suspended_at && { suspendedAt: suspended_at }),
  }));

export const tokenAnswer: z.ZodType<InstallationToken> = z
  .object({
    token: z.string().min(1),
    expires_at: time,
    permissions,
    repository_selection: selection,
    repositories: z.array(z.object({ id: z.int(), full_name: z.string() })).optional(),
  })
  .transform(({ expires_at, repository_selection, repositories, ...rest }) => ({
    ...rest,
    expiresAt: expires_at,
    repositorySelection: repository_selection,
    ...(repositories && {
      repositories: repositories.map(({ id, full_name }) => ({ id, fullName: full_name })),
    }),
  }));

export const deliveriesAnswer: z.ZodType<HookDelivery[]> = z.array(
  z
    .object({
      id: longId,
      guid: z.string(),
      delivered_at: time,
      redelivery: z.boolean(),
      status: z.string(),
      status_code: z.int().nullish(),
      event: z.string(),
      action: z.string().nullish(),
      installation_id: z.int().nullish(),
      repository_id: z.int().nullish(),
    })
    .transform(({ delivered_at, status_code, action, installation_id, repository_id, ...rest }) => ({
      ...rest,
      deliveredAt: delivered_at,
      statusCode: status_code ?? 0,
      ...(action && { action }),
      ...(installation_id && { installationId: installation_id }),
      ...(repository_id && { repositoryId: repository_id }),
    })),
);
