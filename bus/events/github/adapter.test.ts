import { createRequire } from "node:module";
import fc from "fast-check";
import { expect, test } from "vitest";
import { fromMessage, toMessage } from "../binding.ts";
import { githubEvent, MalformedPayloadError } from "./adapter.ts";
import { installationTargetExamples } from "./examples.ts";
import { isWebhookEventName, type WebhookEventName } from "./payloads.ts";

/** What the expectations below read of GitHub's own examples; each event has some of it. */
interface Example {
  action: string;
  number: number;
  ref: string;
  ref_type: string;
  repository: {
    name: string;
    url: string;
    updated_at: string;
    owner: { login?: string; name?: string; url?: string };
  };
  installation: {
    id: number;
    account: { login: string; url: string };
    updated_at: unknown;
    app_id: unknown;
  };
  pull_request: { updated_at: string };
  check_suite: { id: number; updated_at: string };
  check_run: { id: number; started_at: string | null; completed_at: string | null };
  account: { url?: string; html_url: string };
  issue: { url: string };
  comment: { id: number; updated_at: string };
}

const editions = ["api.github.com", "ghes-31", "ghes-32", "ghes-33", "ghes-34", "ghes-35"];
const require = createRequire(import.meta.url);
const published = editions.flatMap((edition): { name: string; examples: Example[] }[] =>
  require(`@octokit/webhooks-examples/${edition}/index.json`),
);
const written = { name: "installation_target", examples: installationTargetExamples as unknown as Example[] };
const examplesOf = (event: string): Example[] =>
  [...published, written].flatMap(({ name, examples }) => (name === event ? examples : []));
const exampleOf = (event: WebhookEventName): Example => structuredClone(examplesOf(event)[0] as Example);

const delivery = "72d3162e-cc78-11e3-81ab-4c9367dc0958";
const now = new Date("2026-01-02T03:04:05.678Z");
const convert = (event: WebhookEventName, payload: unknown) => githubEvent({ event, delivery, payload, now });
const messageOf = (event: WebhookEventName, payload: unknown): string => {
  try {
    convert(event, payload);
  } catch (error) {
    expect(error).toBeInstanceOf(MalformedPayloadError);
    return (error as Error).message;
  }
  throw new Error("expected a MalformedPayloadError, found an event");
};
const readBack = (event: ReturnType<typeof convert>["event"]) => {
  const message = toMessage(event);
  return fromMessage({ headers: message.headers, string: () => message.data });
};

type Attributes = readonly [type: string, source: string, subject: string, time: string];
const seconds = (time: unknown) =>
  typeof time === "number" ? new Date(time * 1000).toISOString() : String(time);

/** The adapter's specification, once more. */
const specified: Record<WebhookEventName, (from: Example) => Attributes> = {
  push: (p) => ["com.github.push", p.repository.url, p.ref, now.toISOString()],
  pull_request: (p) => [
    `com.github.pull_request.${p.action}`,
    p.repository.url,
    `${p.number}`,
    p.pull_request.updated_at,
  ],
  installation: ({ action, installation: i }) => [
    `com.github.installation.${action}`,
    i.account.url,
    `${i.id}`,
    seconds(i.updated_at),
  ],
  installation_repositories: ({ action, installation: i }) => [
    `com.github.installation_repository.${action}`,
    i.account.url,
    `${i.id}`,
    seconds(i.updated_at),
  ],
  check_suite: (p) => [
    `com.github.check_suite.${p.action}`,
    p.repository.url,
    `${p.check_suite.id}`,
    p.check_suite.updated_at,
  ],
  check_run: ({ action, repository, check_run: run }) => [
    `com.github.check_run.${action}`,
    repository.url,
    `${run.id}`,
    run.completed_at ?? run.started_at ?? now.toISOString(),
  ],
  installation_target: ({ action, account, installation: i }) => [
    `com.github.installation_target.${action}`,
    account.url ?? account.html_url,
    `${i.id}`,
    now.toISOString(),
  ],
  repository: (p) => [
    `com.github.repository.${p.action}`,
    p.repository.owner.url ?? "",
    p.repository.name,
    p.repository.updated_at,
  ],
  delete: (p) => [`com.github.delete.${p.ref_type}`, p.repository.url, p.ref, now.toISOString()],
  issue_comment: (p) => [
    `com.github.issue_comment.${p.action}`,
    p.issue.url,
    `${p.comment.id}`,
    p.comment.updated_at,
  ],
};
const events = Object.keys(specified) as WebhookEventName[];

const repository = `repository.id repository.name repository.full_name repository.default_branch repository.url
  repository.owner.login sender.login sender.type installation.id`;
const installation = `action sender.login sender.type installation.id installation.app_id
  installation.account.login installation.account.url installation.account.type installation.account.html_url
  installation.html_url
  installation.updated_at
  installation.repository_selection installation.suspended_at`;

/** Every field that GitHub's examples bring onto the bus. */
const allowed: Record<WebhookEventName, string> = {
  push: `${repository} ref before after created deleted forced`,
  pull_request: `${repository} action number pull_request.number pull_request.state pull_request.draft
    pull_request.merged pull_request.merge_commit_sha pull_request.updated_at pull_request.author_association
    pull_request.user.login pull_request.labels pull_request.labels.name pull_request.head.ref
    pull_request.head.sha pull_request.head.repo.full_name pull_request.base.ref pull_request.base.sha
    pull_request.base.repo.full_name`,
  installation: `${installation} installation.app_slug`,
  installation_target: `action account.login account.url account.html_url account.type account.slug
    installation.id target_type changes.login.from changes.slug.from sender.login sender.type`,
  installation_repositories: `${installation} repository_selection
    repositories_added repositories_added.id repositories_added.full_name
    repositories_removed repositories_removed.id repositories_removed.full_name`,
  check_suite: `${repository} action check_suite.id check_suite.head_sha check_suite.head_branch
    check_suite.status check_suite.conclusion check_suite.updated_at check_suite.pull_requests
    check_suite.pull_requests.number check_suite.app.id`,
  check_run: `${repository} action check_run.id check_run.name check_run.head_sha check_run.status
    check_run.conclusion check_run.started_at check_run.completed_at check_run.pull_requests
    check_run.pull_requests.number check_run.app.id check_run.check_suite.id
    check_run.check_suite.head_branch`,
  repository: `${repository} repository.owner.url repository.updated_at action changes.repository.name.from changes.owner.from.user.login`,
  delete: `${repository} ref ref_type`,
  issue_comment: `${repository} action issue.number issue.url issue.state comment.id comment.updated_at
    comment.author_association comment.user.login`,
};

/** The way to a value: names of fields, and indices of arrays. */
type Path = readonly (string | number)[];
function pathsIn(value: unknown, path: Path = []): Path[] {
  if (typeof value !== "object" || value === null) return [path];
  const within = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  const inner = within.flatMap(([step, field]) => pathsIn(field, [...path, step]));
  return Array.isArray(value) ? [path, ...inner] : inner;
}

/** Dotted paths without the indices of arrays; arrays are fields themselves, also empty ones. */
const fieldsIn = (data: unknown): string[] =>
  pathsIn(data).map((path) => path.filter((step) => typeof step === "string").join("."));
const sorted = (fields: Iterable<string>): string[] => [...new Set(fields)].sort();

test.each(events)("github - every example of %s becomes the event of the adapter's specification", (name) => {
  expect(examplesOf(name).length).toBeGreaterThan(2);
  for (const example of examplesOf(name)) {
    const { event } = convert(name, example);
    expect(event.validate()).toBe(true);
    const [type, source, subject, time] = specified[name](example);
    const attributes = { id: delivery, type, source, subject, time, datacontenttype: "application/json" };
    expect(event).toMatchObject(attributes);
    expect(event.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    expect(event.githubevent).toBeUndefined();
    expect(readBack(event)).toEqual(event);
  }
});

test.each(events)("github - of %s only the listed fields go on the bus, in GitHub's shape", (name) => {
  const onBus = examplesOf(name).flatMap((example) => {
    const { data } = convert(name, example).event;
    expect(example).toMatchObject(data as object);
    return fieldsIn(data);
  });
  expect(sorted(onBus)).toEqual(sorted(allowed[name].split(/\s+/)));
});

test("github - owner and repository are in lower case, and empty where an event has no repository", () => {
  const push = exampleOf("push");
  push.repository.owner.login = "Kaito-Y";
  push.repository.name = "Kai.Toy";
  expect(convert("push", push)).toMatchObject({ owner: "kaito-y", repository: "kai.toy" });
  for (const name of ["installation", "installation_repositories"] as const) {
    const payload = exampleOf(name);
    payload.installation.account.login = "Kaito-Y";
    expect(convert(name, payload)).toMatchObject({ owner: "kaito-y", repository: "" });
  }
});

test("github - the owner of an old push has a name only, and is read as if it were the login", () => {
  const push = exampleOf("push");
  push.repository.owner = { name: "Octocat" };
  const { event, owner } = convert("push", push);
  expect(owner).toBe("octocat");
  expect(event.data).toMatchObject({ repository: { owner: { login: "Octocat" } } });
  expect(fieldsIn(event.data)).not.toContain("repository.owner.name");
});

test.each([
  ["2026-01-01T00:00:00Z", "2026-01-01T00:09:00Z", "2026-01-01T00:09:00Z"],
  ["2026-01-01T00:00:00Z", null, "2026-01-01T00:00:00Z"],
  [null, null, now.toISOString()],
])("github - a check run begun %j and completed %j has the time %s", (started, completed, time) => {
  const payload = exampleOf("check_run");
  payload.check_run.started_at = started;
  payload.check_run.completed_at = completed;
  expect(convert("check_run", payload).event.time).toBe(time);
});

test("github - what is gone is null: the fork, the account, the installation", () => {
  const example = exampleOf("pull_request");
  const { pull_request: pull } = example as unknown as { pull_request: { head: object } };
  const gone = { user: null, merged: null, head: { ...pull.head, repo: null } };
  const payload = { ...example, installation: null, pull_request: { ...pull, ...gone } };
  expect(convert("pull_request", payload).event.data).toMatchObject({
    installation: null,
    pull_request: { user: null, merged: null, head: { repo: null } },
  });
});

/** An account of GitHub's schema `enterprise`: it has no login, no type and no API URL. */
const enterprise = {
  id: 7,
  slug: "My-Company",
  name: "My Company",
  node_id: "E_7",
  avatar_url: "https://avatars.example.com/b/7",
  html_url: "https://github.com/enterprises/my-company",
};

test.each(["installation", "installation_repositories"] as const)(
  "github - an %s of an enterprise has the slug for an owner, and its page for a source",
  (name) => {
    const example = exampleOf(name);
    const payload = { ...example, installation: { ...example.installation, account: enterprise } };
    const adapted = convert(name, payload);
    expect(adapted).toMatchObject({ owner: "my-company", repository: "" });
    expect(adapted.event.source).toBe(enterprise.html_url);
    const { slug, html_url } = enterprise;
    expect(adapted.event.data).toHaveProperty("installation.account", { slug, html_url });
    expect(readBack(adapted.event)).toEqual(adapted.event);
  },
);

test("github - an installation of an account that is gone has no owner, and its settings for a source", () => {
  const example = exampleOf("installation");
  const html_url = "https://github.com/settings/installations/2";
  const payload = { ...example, installation: { ...example.installation, account: null, html_url } };
  const adapted = convert("installation", payload);
  expect(adapted).toMatchObject({ owner: "", repository: "" });
  expect(adapted.event.source).toBe(html_url);
});

test("github - a comment on a pull request says so", () => {
  const example = exampleOf("issue_comment");
  const url = "https://api.github.com/repos/Codertocat/Hello-World/pulls/1";
  const links = { url, html_url: "https://github.com/Codertocat/Hello-World/pull/1", merged_at: null };
  const payload = { ...example, issue: { ...example.issue, pull_request: links } };
  expect(convert("issue_comment", payload).event.data).toHaveProperty("issue.pull_request", { url });
});

test("github - the owner of an account that was renamed is what it is called now", () => {
  const owners = installationTargetExamples.map((payload) => convert("installation_target", payload).owner);
  expect(owners).toEqual(["acme-inc", "hubot", "my-company"]);
});

test("github - refs of any language survive on the bus", () => {
  const payload = { ...exampleOf("push"), ref: "refs/heads/ずんどこ 100%" };
  expect(readBack(convert("push", payload).event).subject).toBe("refs/heads/ずんどこ 100%");
});

test("github - the caller's trace goes on; without one each event begins its own", () => {
  const payload = exampleOf("push");
  const traceparent = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
  const given = githubEvent({ event: "push", delivery, payload, now, traceparent });
  expect(given.event.traceparent).toBe(traceparent);
  expect(convert("push", payload).event.traceparent).not.toBe(convert("push", payload).event.traceparent);
});

test("github - events that are not taken have no name here", () => {
  const names = published.map(({ name }) => name);
  const taken = new Set<string>(events);
  for (const name of names) expect([name, isWebhookEventName(name)]).toEqual([name, taken.has(name)]);
  expect(new Set(names).size).toBeGreaterThan(50);
  for (const name of ["", "toString", "__proto__", "Push"]) expect(isWebhookEventName(name)).toBe(false);
});

test("malformed - every field that does not fit is named with the type expected and the one found", () => {
  const example = exampleOf("pull_request");
  const wrong = {
    ...example,
    number: "7",
    repository: undefined,
    installation: [],
    pull_request: { ...example.pull_request, user: 5, labels: [{ name: "a" }, { name: null }] },
  };
  expect(messageOf("pull_request", wrong)).toBe(
    "the payload does not fit the webhook pull_request: repository: expected object, found nothing; " +
      "installation: expected object, found array; number: expected number, found string; " +
      "pull_request.user: expected object, found number; " +
      "pull_request.labels.1.name: expected string, found null. " +
      "Compare the delivery under Advanced, Recent Deliveries in the settings of the GitHub App.",
  );
  expect(messageOf("push", "text")).toContain("push: payload: expected object, found string.");
});

test("malformed - a field of several forms is named with each of them", () => {
  const push = exampleOf("push");
  push.repository.owner = {};
  expect(messageOf("push", push)).toContain(
    "repository.owner.login: expected string, found nothing; repository.owner.name: expected string, found nothing.",
  );
  const payload = exampleOf("installation");
  payload.installation.updated_at = {};
  payload.installation.app_id = JSON.parse("1e999");
  expect(messageOf("installation", payload)).toContain(
    "installation.app_id: expected number, found infinity; " +
      "installation.updated_at: expected number, found object; installation.updated_at: expected string, found object.",
  );
});

test.each([
  ["yesterday", "installation.updated_at: expected the format of the attribute time, found other text"],
  ["2026-02-30T00:00:00Z", "installation.updated_at: expected the format of the attribute time"],
  [1e15, "installation.updated_at: expected the format of the attribute time"],
  [9e11, "installation.updated_at: expected the format of the attribute time"],
  ["", "installation.updated_at: expected text without control characters, found other text or none"],
])("malformed - %j is no time", (time, problem) => {
  const payload = exampleOf("installation");
  payload.installation.updated_at = time;
  expect(messageOf("installation", payload)).toContain(problem);
});

test("malformed - text that no attribute of an event can hold is refused, not replaced", () => {
  const text = "expected text without control characters";
  const push = exampleOf("push");
  expect(messageOf("push", { ...push, ref: "" })).toContain(`ref: ${text}`);
  expect(messageOf("push", { ...push, ref: "a\nb" })).toContain(`ref: ${text}`);
  expect(messageOf("push", { ...push, ref: "a\ud800" })).toContain(`ref: ${text}`);
  expect(messageOf("delete", { ...push, ref_type: "" })).toContain(`ref_type: ${text}`);
  push.repository.name = "";
  expect(messageOf("push", push)).toContain(`repository.name: ${text}`);
  push.repository = { ...exampleOf("push").repository, url: "not a URI" };
  expect(messageOf("push", push)).toContain("repository.url: expected the format of the attribute source");
  const payload = exampleOf("push");
  expect(() => githubEvent({ event: "push", delivery: "", payload, now })).toThrow(MalformedPayloadError);
});

const numbers = [8675309, -8675309.5, 8675309e300, Number.POSITIVE_INFINITY];
/** JSON whose values are known again: texts but for the empty one begin with a mark, numbers have one inside. */
const marked = fc.jsonValue().map((json): unknown =>
  JSON.parse(JSON.stringify(json), (_key, value) => {
    if (typeof value === "number") return numbers[Math.abs(Math.trunc(value)) % numbers.length];
    return typeof value === "string" && value !== "" ? `s3cr3t${value}` : value;
  }),
);

function replaced(root: unknown, path: Path, value: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined || typeof root !== "object" || root === null) return value;
  const inner = replaced((root as Record<string, unknown>)[step], rest, value);
  return Array.isArray(root) ? Object.assign([...root], { [step]: inner }) : { ...root, [step]: inner };
}

/** An example with other JSON, or nothing, in the place of some fields that are read. */
const nearly = fc
  .tuple(fc.constantFrom(...events), fc.nat(), fc.array(fc.tuple(fc.nat(), fc.nat(), fc.option(marked))))
  .map(([name, which, changes]) => {
    const example = examplesOf(name)[which % examplesOf(name).length];
    const paths = pathsIn(convert(name, example).event.data);
    const payload = changes.reduce<unknown>((before, [at, up, value]) => {
      const path = paths[at % paths.length] as Path;
      return replaced(before, path.slice(0, path.length - (up % path.length)), value ?? undefined);
    }, example);
    return [name, payload] as const;
  });

test("malformed - of any JSON comes an event, or an error that shows no value of it", () => {
  const outcomes = new Set<string>();
  fc.assert(
    fc.property(fc.oneof(nearly, fc.tuple(fc.constantFrom(...events), marked)), ([name, payload]) => {
      try {
        const { event } = convert(name, payload);
        expect(event.validate()).toBe(true);
        expect(JSON.stringify(readBack(event))).toBe(JSON.stringify(event));
        outcomes.add("event");
      } catch (error) {
        expect(error).toBeInstanceOf(MalformedPayloadError);
        expect((error as Error).message).toMatch(new RegExp(`the webhook ${name}: \\S+: expected`));
        expect((error as Error).message).not.toMatch(/s3cr3t|86753/);
        expect((error as Error).cause).toBeUndefined();
        outcomes.add("error");
      }
    }),
    { numRuns: 3000 },
  );
  expect([...outcomes].sort()).toEqual(["error", "event"]);
});
