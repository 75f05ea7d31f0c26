/**
 * Manifests of Apps, with the checks and messages of GitHub.
 * https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest#github-app-manifest-parameters
 * Not simulated: `request_oauth_on_install`, and the check that a webhook URL is public.
 */
import { z } from "zod";

const webUrl = z.url({ protocol: /^https?$/ });

const manifestSchema = z.object({
  name: z.string().optional(),
  url: webUrl,
  hook_attributes: z.object({ url: webUrl, active: z.boolean().default(true) }).optional(),
  redirect_url: webUrl.optional(),
  callback_urls: z.array(webUrl).max(10).default([]),
  setup_url: webUrl.optional(),
  setup_on_update: z.boolean().default(false),
  public: z.boolean().default(false),
  default_permissions: z.record(z.string(), z.enum(["read", "write"])).default({}),
  default_events: z.array(z.string()).default([]),
});

/** The content of a manifest. */
export type Manifest = z.output<typeof manifestSchema>;

/** Every App gets these events; a manifest that names one is refused. */
const implicitEvents: readonly string[] = [
  "installation",
  "installation_repositories",
  "installation_target",
  "github_app_authorization",
];

/** The permission that an event needs. Events that are not listed need none. */
const permissionOfEvent: Readonly<Record<string, string>> = {
  push: "contents",
  create: "contents",
  delete: "contents",
  release: "contents",
  pull_request: "pull_requests",
  issue_comment: "issues",
  check_run: "checks",
  check_suite: "checks",
  status: "statuses",
  deployment: "deployments",
  deployment_status: "deployments",
};

/** GitHub's limit for names of Apps. Characters. */
const maxName = 34;

/** Parses the form field `manifest`. Returns GitHub's message for an invalid one. */
export function parseManifest(text: string): Manifest | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return "The manifest is not valid JSON.";
  }
  const { success, data, error } = manifestSchema.safeParse(value);
  if (!success) return messageOf(error);
  const implicit = data.default_events.find((event) => implicitEvents.includes(event));
  if (implicit !== undefined) return `Default events unsupported: ${implicit}`;
  const lacking = data.default_events.find((event) => {
    const needed = permissionOfEvent[event];
    return needed !== undefined && data.default_permissions[needed] === undefined;
  });
  return lacking === undefined ? data : `Default events are not supported by permissions: ${lacking}`;
}

/** GitHub names the field without its parent. */
function messageOf({ issues: [issue] }: z.ZodError): string {
  const field = issue?.path.at(-1);
  const text = issue?.message ?? "";
  return `Error "${String(field ?? "manifest")}" ${/undefined$/.test(text) ? "wasn't supplied" : "is invalid"}.`;
}

/** Why the name cannot be taken; undefined if it can. */
export function nameProblem(name: string, slugs: readonly string[]): string | undefined {
  if (name.trim() === "") return "Name can't be blank";
  if (name.length > maxName) return `Name is too long (maximum is ${maxName} characters)`;
  return slugs.includes(slugOf(name)) ? "Name has already been taken" : undefined;
}

/** The name of an App in URLs. */
export const slugOf = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "");
