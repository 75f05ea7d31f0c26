import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { Registry } from "prom-client";
import { Agent, request } from "undici";
import { afterEach, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { type Admission, startAdmission } from "../../bus/admission/server.ts";
import { defineKind } from "../../bus/kube/kind.ts";
import { createCertificateAuthority } from "../local/pki.ts";

const Parcel = defineKind({
  group: "g.example.com",
  kind: "Parcel",
  description: "",
  storage: "v1",
  versions: {
    v1alpha1: {
      spec: z.object({ to: z.string() }),
      upgrade: ({ spec }) => ({ spec: { city: spec.to } }),
      downgrade: ({ spec }) => ({ spec: { to: spec.city } }),
    },
    v1: { spec: z.object({ city: z.string() }) },
  },
});

const Card = defineKind({
  ...{ group: "g.example.com", version: "v1", kind: "Card", description: "" },
  spec: z.object({}),
  admission: {
    validate() {
      throw new Error("no stamps");
    },
  },
});

let folder: string;
let admission: Admission;
const registry = () => running.registry;
let running: { readonly registry: Registry; readonly lines: string[] };
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "admission-"));
});
afterEach(async () => {
  await admission?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Writes a new certificate, and returns a client that trusts it. */
async function renew(): Promise<Agent> {
  const authority = createCertificateAuthority("test");
  const { cert, key } = authority.server(["127.0.0.1"]);
  await Promise.all([writeFile(join(folder, "tls.crt"), cert), writeFile(join(folder, "tls.key"), key)]);
  return new Agent({ connect: { ca: authority.cert } });
}

async function start(options: { readonly bodyLimit?: number; readonly rereadMillis?: number } = {}) {
  const agent = await renew();
  running = { registry: new Registry(), lines: [] };
  admission = await startAdmission({
    kinds: [Parcel, Card],
    admissionAddress: "127.0.0.1:0",
    admissionCert: join(folder, "tls.crt"),
    admissionKey: join(folder, "tls.key"),
    log: pino({ level: "warn" }, { write: (line) => running.lines.push(line) }),
    registry: running.registry,
    ...options,
  });
  return agent;
}

async function post(dispatcher: Agent, body: unknown, path = "/convert") {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const response = await request(`${admission.url}${path}`, { dispatcher, method: "POST", body: text });
  const answer = await response.body.text();
  return { status: response.statusCode, text: answer, json: () => JSON.parse(answer) };
}

const review = (version: string, ...objects: object[]) => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "ConversionReview",
  request: { uid: "7", desiredAPIVersion: `g.example.com/${version}`, objects },
});
const parcel = (version: string, spec: object, kind = "Parcel") => ({
  apiVersion: `g.example.com/${version}`,
  kind,
  metadata: { name: "one" },
  spec,
});

test("converts all objects of a review", async () => {
  const agent = await start();
  const given = [parcel("v1alpha1", { to: "Nara" }), parcel("v1", { city: "Kyoto" })];
  const answer = await post(agent, review("v1", ...given));
  expect(answer).toMatchObject({ status: 200 });
  expect(answer.json()).toEqual({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "ConversionReview",
    response: {
      uid: "7",
      result: { status: "Success" },
      convertedObjects: [parcel("v1", { city: "Nara" }), given[1]],
    },
  });
  expect(await registry().metrics()).toContain(
    'denrei_admission_requests_total{webhook="convert",outcome="converted"} 1',
  );
});

test.each([
  [
    "an unknown version",
    review("v2", parcel("v1", { city: "x" })),
    "Parcel has no version v2, only v1alpha1, v1",
  ],
  [
    "an unknown kind",
    review("v1", parcel("v1alpha1", {}, "Letter")),
    "this program does not define Letter.g.example.com: deploy the version that does",
  ],
])("answers with a failure for %s", async (_, body, message) => {
  const agent = await start();
  const answer = await post(agent, body);
  expect(answer.json().response).toEqual({ uid: "7", result: { status: "Failure", message } });
});

test("runs admission hooks, and logs the error of one that fails with its stack", async () => {
  const agent = await start();
  const validating = (kind: string, version: string) => ({
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    request: {
      uid: "7",
      kind: { group: "g.example.com", version, kind },
      operation: "CREATE",
      userInfo: { username: "mei" },
      object: parcel(version, {}, kind),
    },
  });
  const failed = await post(agent, validating("Card", "v1"), "/validate");
  expect(failed.json().response).toMatchObject({ uid: "7", allowed: false });
  expect(running.lines.map((line) => JSON.parse(line))).toMatchObject([
    {
      webhook: "validate",
      detail: "validate of Card.g.example.com failed: no stamps",
      err: { stack: expect.stringContaining("admission.test.ts") },
    },
  ]);
  // The API server shows this text only for codes from 500.
  expect(await post(agent, validating("Parcel", "v1"), "/validate")).toMatchObject({
    status: 501,
    text: expect.stringContaining("no validate for Parcel.g.example.com"),
  });
  const metrics = await registry().metrics();
  expect(metrics).toContain('denrei_admission_requests_total{webhook="validate",outcome="failed"} 1');
  expect(metrics).toContain('denrei_admission_requests_total{webhook="validate",outcome="unknown_hook"} 1');
});

test("rejects requests that are not reviews, and serves the next one", async () => {
  const agent = await start({ bodyLimit: 1000 });
  expect(await post(agent, "{")).toMatchObject({
    status: 400,
    text: expect.stringContaining("ConversionReview"),
  });
  expect(await post(agent, { kind: "Pod" })).toMatchObject({ status: 400 });
  expect(await post(agent, review("v1"), "/other")).toMatchObject({ status: 404 });
  expect(await post(agent, "x".repeat(1001))).toMatchObject({
    status: 413,
    text: expect.stringContaining("1000 bytes"),
  });
  expect(await post(agent, review("v1"))).toMatchObject({ status: 200 });
});

test("uses a renewed certificate for new connections", async () => {
  const old = await start({ rereadMillis: 10 });
  expect(await post(old, review("v1"))).toMatchObject({ status: 200 });
  const renewed = await renew();
  await expect.poll(() => post(renewed, review("v1")).catch(() => undefined)).toMatchObject({ status: 200 });
});

test("does not start with a key that does not match the certificate", async () => {
  await renew();
  const { key } = createCertificateAuthority("other").server(["127.0.0.1"]);
  await writeFile(join(folder, "tls.key"), key);
  const options = { admissionCert: join(folder, "tls.crt"), admissionKey: join(folder, "tls.key") };
  await expect(
    startAdmission({
      ...options,
      kinds: [],
      admissionAddress: "127.0.0.1:0",
      log: pino({ level: "silent" }),
      registry: new Registry(),
    }),
  ).rejects.toThrow(/key values mismatch/);
});
