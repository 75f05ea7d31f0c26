import { expect, test } from "vitest";
import type { Stored } from "../../../bus/kube/object.ts";
import type { AppPipeline } from "../kinds/apppipeline.ts";
import * as desired from "./objects.ts";
import type { Candidate } from "./select.ts";

const hostOf = (of: Stored<AppPipeline>, number: number) => desired.hostOf(of, number, "unique");
const previewObjects = (of: Stored<AppPipeline>, candidate: Candidate) =>
  desired.previewObjects(of, candidate, "unique");

const candidate: Candidate = { number: 7, headSHA: "head", since: "2026-01-02T03:04:05Z" };
const stranger: Candidate = { ...candidate, fork: "stranger/web" };
const github = { owner: "acme", repo: "web", secretName: "acme-web" };
const pipeline = (spec: Partial<AppPipeline["spec"]> = {}) =>
  ({
    metadata: { namespace: "team-a", name: "web" },
    spec: {
      domainBase: "*.example.com",
      applicationTemplate: {},
      base: { github },
      image: { name: "registry.example.com/web", secretName: "regcred" },
      ...spec,
    },
  }) as Stored<AppPipeline>;

test("gives a preview one host, labels of its origin, and the pipeline's image repository", () => {
  const { application, remoteSync } = previewObjects(pipeline(), candidate);
  expect(application.spec).toEqual({ domains: [hostOf(pipeline(), 7)] });
  const labels = { "modoki.tsuzu.dev/app-pipeline": "web", "modoki.tsuzu.dev/pull-request-id": "7" };
  expect(application.metadata).toEqual({ name: "modoki-pipeline-web-pr-7", labels });
  const head = { "modoki.tsuzu.dev/head-sha": candidate.headSHA };
  expect(remoteSync.metadata).toEqual({ ...application.metadata, annotations: head });
  expect(remoteSync.spec).toEqual({
    applicationRef: { name: "modoki-pipeline-web-pr-7" },
    base: { github: { ...github, pullRequest: 7 } },
    image: { name: "registry.example.com/web", secretName: "regcred" },
  });
});

test("applies the template's labels and annotations, but its own take precedence", () => {
  const metadata = {
    labels: { team: "a", "modoki.tsuzu.dev/app-pipeline": "other" },
    annotations: { note: "b" },
  };
  const { application } = previewObjects(pipeline({ applicationTemplate: { metadata } }), candidate);
  expect(application.metadata).toMatchObject({
    labels: { team: "a", "modoki.tsuzu.dev/app-pipeline": "web" },
    annotations: { note: "b" },
  });
});

test("copies folder, build, builder, and revision from the pipeline", () => {
  const build = { timeoutSeconds: 60 };
  const builder = { kind: "Builder" as const, name: "own" };
  const spec = { base: { github, subPath: "web" }, build, builder, revision: "Head" as const };
  const { remoteSync } = previewObjects(pipeline(spec), candidate);
  expect(remoteSync.spec).toMatchObject({ build, builder, revision: "Head", base: { subPath: "web" } });
});

test("builds the approved commit of a fork instead of the merge", () => {
  const { remoteSync } = previewObjects(pipeline(), { ...stranger, approvedSHA: "approved" });
  expect(remoteSync.spec.base.github).toEqual({ ...github, sha: "approved" });
});

test("gives a fork's code no Secrets and no ServiceAccount, and everything else", () => {
  const configMapKeyRef = { name: "settings", key: "mode" };
  const plain = [
    { name: "MODE", value: "preview" },
    { name: "SETTING", valueFrom: { configMapKeyRef } },
  ];
  const spec = {
    env: [...plain, { name: "TOKEN", valueFrom: { secretKeyRef: { name: "api", key: "token" } } }],
    envFrom: [{ configMapRef: { name: "settings" } }, { secretRef: { name: "api" } }],
    serviceAccount: "deployer",
    args: ["--debug"],
  };
  const template = pipeline({ applicationTemplate: { spec } });
  expect(previewObjects(template, candidate).application.spec).toMatchObject(spec);
  const { domains: _, ...rest } = previewObjects(template, stranger).application.spec;
  expect(rest).toEqual({ args: ["--debug"], env: plain, envFrom: [{ configMapRef: { name: "settings" } }] });
});

test("gives a fork's build only variables marked for forks, approved or not", () => {
  const env = [
    { name: "NPM_TOKEN", value: "secret" },
    { name: "DEPLOY_KEY", value: "secret", forks: false },
    { name: "BP_NODE_VERSION", value: "24", forks: true },
  ];
  const build = { env, timeoutSeconds: 60 };
  const envOf = (of: Candidate) => previewObjects(pipeline({ build }), of).remoteSync.spec.build;
  const marked = { timeoutSeconds: 60, env: [{ name: "BP_NODE_VERSION", value: "24" }] };
  expect([envOf(stranger), envOf({ ...stranger, approvedSHA: "approved" })]).toEqual([marked, marked]);
  expect(envOf(candidate)).toEqual({
    timeoutSeconds: 60,
    env: env.map(({ name, value }) => ({ name, value })),
  });
  const unmarked = pipeline({ build: { env: env.slice(0, 2) } });
  expect(previewObjects(unmarked, stranger).remoteSync.spec.build).toEqual({});
});
