import { CloudEvent } from "cloudevents";
import { expect, test } from "vitest";
import { z } from "zod";
import { adaptWebhook } from "../adapter.ts";
import { installationTargetExamples } from "./examples.ts";
import { github } from "./github.ts";
import { githubEventNames } from "./names.ts";
import type { WebhookEventName } from "./payloads.ts";
import {
  convert,
  delivery,
  type Example,
  exampleOf,
  examplesOf,
  githubEvent,
  now,
  pathsIn,
  published,
  readBack,
} from "./published.ts";

type Attributes = readonly [type: string, source: string, subject: string, time: string];
const seconds = (time: unknown) =>
  typeof time === "number" ? new Date(time * 1000).toISOString() : String(time);

/** The adapter's specification, restated. */
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

/** Every field of GitHub's examples that may go on the bus. */
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

/** Dotted paths without the indices of arrays. Arrays are fields themselves, even empty ones. */
const fieldsIn = (data: unknown): string[] =>
  pathsIn(data).map((path) => path.filter((step) => typeof step === "string").join("."));
const sorted = (fields: Iterable<string>): string[] => [...new Set(fields)].sort();

test.each(events)("github - converts every example of %s as the adapter's specification says", (name) => {
  expect(examplesOf(name).length).toBeGreaterThan(2);
  for (const example of examplesOf(name)) {
    const { event } = convert(name, example);
    expect(new CloudEvent(event).validate()).toBe(true);
    const [type, source, subject, time] = specified[name](example);
    const attributes = { id: delivery, type, source, subject, time, datacontenttype: "application/json" };
    expect(event).toMatchObject(attributes);
    expect(event.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    expect(event.githubevent).toBeUndefined();
    expect(readBack(event)).toEqual(event);
  }
});

test.each(events)("github - keeps only the listed fields of %s, in GitHub's shape", (name) => {
  const onBus = examplesOf(name).flatMap((example) => {
    const { data } = convert(name, example).event;
    expect(example).toMatchObject(data as object);
    return fieldsIn(data);
  });
  expect(sorted(onBus)).toEqual(sorted(allowed[name].split(/\s+/)));
});

test("github - owner and repository are lower case, and empty for an event without a repository", () => {
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

test("github - reads the owner's name of an old push as its login", () => {
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
])("github - a check run started %j and completed %j has the time %s", (started, completed, time) => {
  const payload = exampleOf("check_run");
  payload.check_run.started_at = started;
  payload.check_run.completed_at = completed;
  expect(convert("check_run", payload).event.time).toBe(time);
});

test("github - a deleted fork, account, or installation is null", () => {
  const example = exampleOf("pull_request");
  const { pull_request: pull } = example as unknown as { pull_request: { head: object } };
  const gone = { user: null, merged: null, head: { ...pull.head, repo: null } };
  const payload = { ...example, installation: null, pull_request: { ...pull, ...gone } };
  expect(convert("pull_request", payload).event.data).toMatchObject({
    installation: null,
    pull_request: { user: null, merged: null, head: { repo: null } },
  });
});

/** An account of GitHub's schema `enterprise`: without login, type, and API URL. */
const enterprise = {
  id: 7,
  slug: "My-Company",
  name: "My Company",
  node_id: "E_7",
  avatar_url: "https://avatars.example.com/b/7",
  html_url: "https://github.com/enterprises/my-company",
};

test.each(["installation", "installation_repositories"] as const)(
  "github - an %s of an enterprise has the slug as owner, and its page as source",
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

test("github - an installation of a deleted account has no owner, and its settings page as source", () => {
  const example = exampleOf("installation");
  const html_url = "https://github.com/settings/installations/2";
  const payload = { ...example, installation: { ...example.installation, account: null, html_url } };
  const adapted = convert("installation", payload);
  expect(adapted).toMatchObject({ owner: "", repository: "" });
  expect(adapted.event.source).toBe(html_url);
});

test("github - marks a comment on a pull request", () => {
  const example = exampleOf("issue_comment");
  const url = "https://api.github.com/repos/Codertocat/Hello-World/pulls/1";
  const links = { url, html_url: "https://github.com/Codertocat/Hello-World/pull/1", merged_at: null };
  const payload = { ...example, issue: { ...example.issue, pull_request: links } };
  expect(convert("issue_comment", payload).event.data).toHaveProperty("issue.pull_request", { url });
});

test("github - the owner of a renamed account is its current name", () => {
  const owners = installationTargetExamples.map((payload) => convert("installation_target", payload).owner);
  expect(owners).toEqual(["acme-inc", "hubot", "my-company"]);
});

test("github - preserves refs in any language", () => {
  const payload = { ...exampleOf("push"), ref: "refs/heads/ずんどこ 100%" };
  expect(readBack(convert("push", payload).event).subject).toBe("refs/heads/ずんどこ 100%");
});

test("github - continues the caller's trace; without one, each event starts its own", () => {
  const payload = exampleOf("push");
  const traceparent = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
  const given = githubEvent({ event: "push", delivery, payload, now, traceparent });
  expect(given.event.traceparent).toBe(traceparent);
  expect(convert("push", payload).event.traceparent).not.toBe(convert("push", payload).event.traceparent);
});

test("github - converts every example of the events without a schema, with an address and no more fields", () => {
  const others = published.filter(({ name }) => name !== "ping" && !events.includes(name as never));
  for (const { name, examples } of others) {
    for (const payload of examples) {
      const webhook = { provider: github, hook: "app", event: name, delivery, payload, now };
      const adapted = adaptWebhook({ ...webhook, schemas: [z.object({ action: z.string().optional() })] });
      expect(new CloudEvent(adapted.event).validate()).toBe(true);
      expect(readBack(adapted.event)).toEqual(adapted.event);
      const { action, repository } = payload;
      expect(adapted.event.data).toEqual(action === undefined ? {} : { action });
      expect(adapted.event.type).toBe(["com.github", name, ...(action ? [action] : [])].join("."));
      if (repository?.owner?.login)
        expect([adapted.owner, adapted.repository]).toEqual(
          [repository.owner.login, repository.name].map((text) => text.toLowerCase()),
        );
    }
  }
  expect(others.length).toBeGreaterThan(100);
});

test("github - every published event has a name, and each name is there once", () => {
  const names = new Set(published.map(({ name }) => name).filter((name) => name !== "ping"));
  expect(names.size).toBeGreaterThan(50);
  expect([...names].filter((name) => !githubEventNames.includes(name as never))).toEqual([]);
  expect(events.filter((name) => !githubEventNames.includes(name))).toEqual([]);
  expect(new Set(githubEventNames).size).toBe(githubEventNames.length);
});
