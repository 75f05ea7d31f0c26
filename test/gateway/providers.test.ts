/** Hooks of every built-in provider, and the fields that functions select of their webhooks. */
import { createHmac, randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { github } from "../../bus/webhooks/github/github.ts";
import type { WebhookTrigger } from "../../bus/webhooks/provider.ts";
import { bitbucket } from "../../bus/webhooks/providers/bitbucket.ts";
import { hmacWebhooks, standardWebhooks } from "../../bus/webhooks/providers/generic.ts";
import { gitea } from "../../bus/webhooks/providers/gitea.ts";
import { gitlab } from "../../bus/webhooks/providers/gitlab.ts";
import { selectedEvent } from "../../bus/webhooks/sharedselection.ts";
import { hookSecret } from "../harness/environment.ts";
import type { LocalBus } from "../harness/localbus.ts";
import { example, hookOf, type Payload } from "../harness/webhooks.ts";
import { lastSequence, openGateway, startWebhookBus, storedAfter, type TestGateway } from "./gateways.ts";
import { ask } from "./requests.ts";

const key = Buffer.alloc(24, "k").toString("base64");
const secrets = {
  "github.app": hookSecret,
  "gitea.app": "gitea's",
  "gitlab.app": `gitlab's\nwhsec_${key}`,
  "bitbucket.app": "bitbucket's",
  "standard-webhooks.app": `whsec_${key}`,
  "hmac.app": "a script's",
  "hmac.other": "a script's",
};

const keys: WebhookTrigger["keys"] = () => [];
const id = z.object({ object: z.object({ id: z.number() }) });
const name = z.object({ object: z.object({ name: z.string() }) });
const triggers = [
  gitea.on("push", { select: id, keys }),
  gitlab.on("Merge Request Hook", { select: id, keys }),
  bitbucket.on("repo:push", { select: id, keys }),
  bitbucket.on("pr:opened", { select: id, keys }),
  standardWebhooks.on("invoice.paid", { select: id, keys }),
  hmacWebhooks.on("deployed", { select: id, keys }),
  hmacWebhooks.on("deployed", { select: name, keys }),
  github.on("release", { select: id, keys }),
];

let local: LocalBus;
let gateway: TestGateway;
beforeAll(async () => {
  local = await startWebhookBus();
  gateway = await openGateway(local, { secrets, webhooks: triggers.map(selectedEvent) });
});
afterAll(async () => {
  await gateway?.stop();
  await local?.stop();
});

type Headers = Readonly<Record<string, string>>;
const hmacOf = (secret: string | Buffer, text: string, encoding: "hex" | "base64" = "hex") =>
  createHmac("sha256", secret).update(text).digest(encoding);

/** The headers of Standard Webhooks. */
function standardHeaders(body: string, at = Date.now()): Headers {
  const [message, time] = [`msg_${randomUUID()}`, String(Math.floor(at / 1000))];
  const signature = hmacOf(Buffer.from(key, "base64"), `${message}.${time}.${body}`, "base64");
  return { "webhook-id": message, "webhook-timestamp": time, "webhook-signature": `v1,${signature}` };
}

const send = (path: string, body: string, headers: Headers) =>
  ask(`${gateway.url}${path}`, { body, headers: { "content-type": "application/json", ...headers } });

/** Sends a request, and returns the only message that it stores. */
async function stored(path: string, body: string, headers: Headers) {
  const before = await lastSequence(local);
  expect(await send(path, body, headers)).toMatchObject({ status: 202, text: "stored" });
  const [{ subject, header, data } = expect.fail(), ...more] = await storedAfter(local, before);
  expect(more).toEqual([]);
  const attribute = (of: string) => header.get(`ce-${of}`);
  const [type, source, about] = ["type", "source", "subject"].map(attribute);
  return {
    subject,
    delivery: attribute("id"),
    type,
    source,
    about,
    data: JSON.parse(Buffer.from(data).toString()),
  };
}

const object = { id: 7, name: "seven", secret: "hush" };
const uuid = randomUUID();

describe("publishes the selected fields, the address, and the attributes of", () => {
  const data = { object: { id: 7 } };

  test("Gitea", async () => {
    const repository = {
      name: "Web",
      owner: { login: "Acme" },
      html_url: "https://gitea.example.com/acme/web",
    };
    const body = JSON.stringify({ ref: "refs/heads/main", object, repository });
    const headers = { "x-gitea-event": "push", "x-gitea-delivery": uuid };
    const signed = { ...headers, "x-gitea-signature": hmacOf("gitea's", body) };
    expect(await stored("/gitea/app", body, signed)).toEqual({
      subject: "webhooks.gitea.push.acme.web",
      delivery: uuid,
      type: "io.gitea.push",
      source: "https://gitea.example.com/acme/web",
      about: "refs/heads/main",
      data,
    });
  });

  test.each(["token", "signing token"])("GitLab with a %s", async (kind) => {
    const project = {
      path_with_namespace: "Acme/Team/Web",
      web_url: "https://gitlab.example.com/acme/team/web",
    };
    const body = JSON.stringify({ object, project, object_attributes: { iid: 3, action: "open" } });
    const delivery = randomUUID();
    const headers = { "x-gitlab-event": "Merge Request Hook", "idempotency-key": delivery };
    const signed = kind === "token" ? { "x-gitlab-token": "gitlab's" } : standardHeaders(body);
    expect(await stored("/gitlab/app", body, { ...headers, ...signed })).toEqual({
      subject: "webhooks.gitlab.Merge=20Request=20Hook.acme=2Fteam.web",
      delivery,
      type: "com.gitlab.merge_request.open",
      source: "https://gitlab.example.com/acme/team/web",
      about: "3",
      data,
    });
  });

  test("Bitbucket Cloud, and Data Center", async () => {
    const links = { html: { href: "https://bitbucket.org/acme/web" } };
    const cloud = JSON.stringify({
      object,
      repository: { full_name: "acme/Web", slug: "web", project: { key: "P" }, links },
    });
    const sign = (body: string) => ({ "x-hub-signature": `sha256=${hmacOf("bitbucket's", body)}` });
    const headers = { "x-event-key": "repo:push", "x-request-uuid": randomUUID(), ...sign(cloud) };
    expect(await stored("/bitbucket/app", cloud, headers)).toMatchObject({
      subject: "webhooks.bitbucket.repo=3Apush.acme.web",
      type: "org.bitbucket.repo.push",
      source: links.html.href,
      data,
    });
    const toRef = { repository: { slug: "web", project: { key: "P" } } };
    const own = JSON.stringify({ object, pullRequest: { id: 5, toRef } });
    const request = { "x-event-key": "pr:opened", "x-request-id": randomUUID(), ...sign(own) };
    expect(await stored("/bitbucket/app", own, request)).toMatchObject({
      subject: "webhooks.bitbucket.pr=3Aopened.p.web",
      source: "/bitbucket/app",
      about: "5",
      data,
    });
  });

  test("Standard Webhooks, whose event is in the body", async () => {
    const body = JSON.stringify({ type: "invoice.paid", timestamp: "2026-01-02T03:04:05Z", object });
    const headers = standardHeaders(body);
    expect(await stored("/standard-webhooks/app", body, headers)).toMatchObject({
      subject: "webhooks.standard-webhooks.invoice=2Epaid._._",
      delivery: headers["webhook-id"],
      type: "dev.denrei.standard-webhooks.invoice.paid",
      data,
    });
  });

  test("another event of GitHub", async () => {
    const payload: Payload = { ...example("release"), object };
    const { body, headers } = hookOf("release", payload);
    expect(await stored("/github/app", body, headers)).toMatchObject({
      subject: "webhooks.github.release.codertocat.hello-world",
      type: `com.github.release.${payload.action}`,
      source: "https://api.github.com/repos/Codertocat/Hello-World",
      about: String((payload.release as { id: number }).id),
      data,
    });
  });
});

describe("a signed request of any sender", () => {
  const headersOf = (body: string, event = "deployed", more: Headers = {}) => ({
    "x-webhook-event": event,
    "x-hub-signature-256": `sha256=${hmacOf("a script's", body)}`,
    ...more,
  });
  const deployed = (fields: object = object) => JSON.stringify({ at: randomUUID(), object: fields });

  test("is one event with the fields that all functions select", async () => {
    const body = deployed();
    expect(await stored("/hmac/app", body, headersOf(body))).toMatchObject({
      subject: "webhooks.hmac.deployed._._",
      data: { object: { id: 7, name: "seven" } },
    });
  });

  test("is published for the functions that it fits, and refused if it fits none", async () => {
    const body = deployed({ name: "eight" });
    expect(await stored("/hmac/app", body, headersOf(body))).toMatchObject({
      data: { object: { name: "eight" } },
    });
    const wrong = deployed({ id: "hush", name: 9 });
    expect(await send("/hmac/app", wrong, headersOf(wrong))).toMatchObject({
      status: 422,
      text: "not a payload of the event deployed",
    });
    const [warning] = gateway.log.records().filter(({ outcome }) => outcome === "malformed");
    expect(warning?.detail).toBe(
      "the payload does not fit the webhook deployed: object.id: expected number, found string; object.name: expected string, found number.",
    );
  });

  test("is ignored if no function selects its event", async () => {
    const [before, body] = [await lastSequence(local), deployed()];
    for (const event of ["Deployed", "constructor", "a".repeat(2000)])
      expect(await send("/hmac/app", body, headersOf(body, event))).toMatchObject({ status: 200 });
    const push = hookOf("push", example("push"));
    expect(await send("/github/app", push.body, push.headers)).toMatchObject({
      status: 200,
      text: "event not supported",
    });
    expect(await lastSequence(local)).toBe(before);
  });

  test("without an id is the same delivery if its body is the same, but not at another hook", async () => {
    const [body, id] = [deployed(), { "x-webhook-delivery": "1" }];
    const texts = async (path: string, more?: Headers) =>
      (await send(path, body, headersOf(body, "deployed", more))).text;
    expect([await texts("/hmac/app"), await texts("/hmac/app")]).toEqual(["stored", "duplicate"]);
    expect([await texts("/hmac/app", id), await texts("/hmac/app", id)]).toEqual(["stored", "duplicate"]);
    expect([await texts("/hmac/other"), await texts("/hmac/other", id)]).toEqual(["stored", "stored"]);
    expect(
      await send("/hmac/app", body, headersOf(body, "deployed", { "x-webhook-delivery": "a b" })),
    ).toMatchObject({
      status: 400,
      text: "missing or invalid header X-Webhook-Event or X-Webhook-Delivery",
    });
  });

  test("is refused at a hook of another provider, and an old one at every hook", async () => {
    const before = await lastSequence(local);
    const body = JSON.stringify({ type: "invoice.paid", object });
    const old = standardHeaders(body, Date.now() - 301_000);
    expect(await send("/standard-webhooks/app", body, old)).toMatchObject({
      status: 401,
      text: "invalid signature in webhook-signature: sign webhook-id, webhook-timestamp (within 5 minutes of now), and the body with the secret of this webhook",
    });
    expect(
      await send("/github/app", body, { ...hookOf("release", {}).headers, ...headersOf(body) }),
    ).toMatchObject({ status: 401 });
    expect(await send("/gitlab/app", body, { "x-gitlab-token": `whsec_${key}` })).toMatchObject({
      status: 401,
    });
    expect(await send("/acme/app", body, headersOf(body))).toMatchObject({ status: 404 });
    const text = "not JSON";
    expect(await send("/standard-webhooks/app", text, standardHeaders(text))).toMatchObject({
      status: 422,
      text: "body is not JSON",
    });
    expect(await send("/standard-webhooks/app", "{}", standardHeaders("{}"))).toMatchObject({
      status: 400,
      text: "missing or invalid header webhook-id, or field type",
    });
    expect(await lastSequence(local)).toBe(before);
  });
});
