/**
 * GitHub's side of creating an App: the manifest, and the exchange of the code for the App's keys.
 * https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest
 */
import { type Caller, githubApiUrl, githubCalls, rateLimits } from "denrei/github";
import { z } from "zod";
import { type AppForm, appEvents, appPermissions, type NewApp, webhookUrlOf } from "../../api/githubapp.ts";

/** Where GitHub sends the browser with the code. */
export const callbackPath = "/auth/github/app/callback";

/** A created App with its keys. */
export interface CreatedApp {
  readonly id: number;
  /** Its name in URLs. */
  readonly slug: string;
  /** Path of its owner's settings: empty, or `/organizations/<login>`. */
  readonly ownerPath: string;
  /** PEM. */
  readonly privateKey: string;
  /** Null for an App without webhooks. */
  readonly webhookSecret: string | null;
}

/** The form that the browser posts to GitHub. `dashboard` is the dashboard's own address. */
export function formOf(app: NewApp, dashboard: string, state: string): AppForm {
  const { url, namespace, name, organization, gateway } = app;
  const owner = organization === undefined ? "" : `/organizations/${encodeURIComponent(organization)}`;
  const manifest = {
    name,
    url: dashboard,
    redirect_url: `${dashboard}${callbackPath}`,
    // Lets an operator connect users' accounts with this App.
    callback_urls: [`${dashboard}/auth/github/callback`],
    setup_url: `${dashboard}/github/app/${namespace}/${name}/installed`,
    setup_on_update: true,
    public: false,
    default_permissions: appPermissions,
    // GitHub refuses `hook_attributes` without a URL, and events without a webhook are of no use.
    ...(gateway !== undefined && {
      hook_attributes: { url: webhookUrlOf(gateway, namespace, name), active: true },
      default_events: appEvents,
    }),
  };
  return {
    action: `${url}${owner}/settings/apps/new?${new URLSearchParams({ state })}`,
    manifest: JSON.stringify(manifest),
  };
}

const conversion = z
  .object({
    id: z.int(),
    slug: z.string().regex(/^[A-Za-z0-9_-]+$/),
    owner: z.object({ login: z.string(), type: z.string().optional() }),
    pem: z.string(),
    webhook_secret: z.string().nullish(),
  })
  .transform(
    ({ id, slug, owner, pem, webhook_secret }): CreatedApp => ({
      ...{ id, slug, privateKey: pem, webhookSecret: webhook_secret ?? null },
      ownerPath: owner.type === "Organization" ? `/organizations/${encodeURIComponent(owner.login)}` : "",
    }),
  );

/** GitHub accepts only the code, and no credentials. */
const anonymous: Caller = {
  name: "an anonymous client",
  limitedAs: "conversions of manifests",
  authorization: async () => undefined,
};
const limits = rateLimits();

/** Fetches the keys of an App: GitHub gives them once, within an hour. Throws a `GitHubError`, with the status 404 for an invalid code. */
export async function convert(url: string, code: string): Promise<CreatedApp> {
  const call = githubCalls({ base: githubApiUrl(url), limits });
  // A template: errors, logs, and traces have the path, and must not have the code.
  const path = "/app-manifests/{code}/conversions";
  const { body } = await call({
    method: "POST",
    path,
    parameters: { code },
    as: anonymous,
    answer: conversion,
  });
  return body;
}
