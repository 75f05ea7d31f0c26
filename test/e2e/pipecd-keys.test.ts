/** Keys of PipeCD that are lost or already exist: each is created once, kept, and replaced only if nothing else works. */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Secret, type SecretObject } from "../../bus/kube/kind.ts";
import type { Stored } from "../../bus/kube/object.ts";
import { Application, ControlPlane, Piped } from "../../functions/pipecd/kinds.ts";
import { type Pipecd, startPipecd } from "../harness/pipecd.ts";
import {
  codeFor,
  corrected,
  DeploymentKind,
  digestOf,
  emptyStack,
  enabledApplications,
  enabledPipeds,
  keyOf,
  names,
  partDigests,
  polling,
  type Stack,
  sideBySide,
  startStack,
  untilLetIn,
} from "../harness/pipecdstack.ts";

let pipecd: Pipecd;
beforeAll(async () => {
  pipecd = await startPipecd();
});
afterAll(() => pipecd?.stop());

const encryptionKey = (secret: Stored<SecretObject>): Buffer =>
  Buffer.from(secret.data?.["encryption-key"] ?? "", "base64");

/** Whether the Secret of the piped lists older keys that are still to be deleted. */
const hasOlderKeys = async (stack: Stack): Promise<boolean> =>
  (await stack.get(Secret, names.piped)).metadata.annotations?.["pipecd.kanatakita.com/older-keys"] !==
  undefined;

describe.concurrent("in namespaces of their own", sideBySide, () => {
  test.for(["c", "l0"] as const)(
    "a piped whose key is lost or edited gets a new key with the same ID, and the lost key is deleted (%s)",
    async (profile, { expect }) => {
      const stack = await startStack(pipecd, profile, `keys-piped-${profile}`);
      const patch = (change: object) => () => stack.patch(Secret, names.piped, change);
      const remove = () => stack.delete(Secret, names.piped);
      let before = await keyOf(stack);
      expect(await codeFor(pipecd, stack, before)).toBe(0);
      // v0.57.0 keeps two keys, so each new one needs room.
      for (const lose of [
        remove,
        remove,
        patch({ data: { "piped-key": null } }),
        patch({ data: { "piped-key": btoa("edited") } }),
        patch({ metadata: { annotations: { "pipecd.kanatakita.com/piped-id": null } } }),
      ]) {
        const digest = digestOf(await stack.get(DeploymentKind, names.piped));
        const since = stack.server().calls.length;
        await lose();
        await stack.until(DeploymentKind, names.piped, (found) => digestOf(found) !== digest);
        await stack.ready(Piped, names.piped);
        await untilLetIn(stack, since);
        const after = await keyOf(stack);
        expect(after.id).toBe(before.id);
        expect(after.key).not.toBe(before.key);
        await expect.poll(() => hasOlderKeys(stack), polling).toBe(false);
        expect(await codeFor(pipecd, stack, before)).toBe(16);
        expect(await codeFor(pipecd, stack, after)).toBe(0);
        before = after;
      }
      expect(stack.calls("RegisterPiped")).toHaveLength(1);
      // v0.9.0 keeps at most three keys, so the others were already dropped.
      const keys = profile === "c" ? 1 : 3;
      expect(stack.server().pipeds()).toMatchObject([
        { id: before.id, name: "test-piped", disabled: false, keys },
      ]);
      expect((await stack.ready(Piped, names.piped)).status?.pipedID).toBe(before.id);
      await stack.ready(Application, names.application);
    },
  );

  test("deletes a key that was lost while the server was away, and also one that PipeCD lost or that was restored", async ({
    expect,
  }) => {
    const stack = await startStack(pipecd, "c", "keys-away");
    const server = stack.server();
    const first = await keyOf(stack);
    const backup = await stack.get(Secret, names.piped);
    server.die();
    await stack.delete(Secret, names.piped);
    await stack.refused(Piped as never, names.piped, "ServerUnavailable");
    const since = server.calls.length;
    // A piped that reports at the same time may overwrite the new key.
    server.loseUpdate();
    server.restart();
    await stack.ready(Piped, names.piped);
    await untilLetIn(stack, since);
    const second = await keyOf(stack);
    expect(await codeFor(pipecd, stack, first)).toBe(16);
    expect(await codeFor(pipecd, stack, second)).toBe(0);
    expect(server.pipeds()).toMatchObject([{ id: first.id, keys: 1 }]);

    const { annotations } = backup.metadata;
    await stack.patch(Secret, names.piped, { data: backup.data, metadata: { annotations } });
    // Triggers the comparison with PipeCD.
    await stack.edit(Piped as never, names.piped, { description: "restored" });
    await expect.poll(async () => (await keyOf(stack)).key, polling).not.toBe(first.key);
    await expect.poll(async () => codeFor(pipecd, stack, await keyOf(stack)), polling).toBe(0);
    await expect.poll(() => hasOlderKeys(stack), polling).toBe(false);
    // A process of PipeCD accepts the keys of its last read for half an hour, and may have read before the deletion.
    server.die();
    server.restart();
    await expect.poll(() => codeFor(pipecd, stack, second), polling).toBe(16);
    expect(server.pipeds()).toMatchObject([{ id: first.id, keys: 1 }]);
  });

  test("recreates a deleted Secret pipecd with a random key, rolls all pods, and everything recovers", async ({
    expect,
  }) => {
    const stack = await startStack(pipecd, "c", "keys-plane");
    const keyNow = async () => {
      const key = encryptionKey(await stack.get(Secret, "pipecd"));
      expect(key.length).toBeGreaterThanOrEqual(32);
      return key.toString();
    };
    const key = await keyNow();
    const before = await partDigests(stack);
    await stack.delete(Secret, "pipecd");
    await stack.until(DeploymentKind, `${names.plane}-server`, (found) => digestOf(found) !== before.server);
    await stack.ready(ControlPlane, names.plane);
    await stack.ready(Application, names.application);
    const after = await partDigests(stack);
    expect(Object.keys(after).filter((part) => after[part] !== before[part])).toEqual(["server", "ops"]);
    const another = await keyNow();
    expect(another).not.toBe(key);
    // The server accepts requests signed with the new key.
    await stack.edit(Application, names.application, { cloudProvider: "another" });
    await stack.ready(Application, names.application);
    expect(enabledApplications(stack)).toMatchObject([{ provider: "another" }]);
    expect(enabledPipeds(stack)).toHaveLength(1);
    expect([key, another].filter((text) => /quickstart/.test(text))).toEqual([]);
  });
});

test("never writes existing Secrets: uses that of the control plane, and rejects that of the piped", async () => {
  const stack = await emptyStack(pipecd, "keys-before");
  const key = () => randomBytes(40).toString("base64");
  const data = { "encryption-key": key(), other: "eA==" };
  await stack.create(Secret, { kind: "Secret", metadata: { name: "pipecd" }, data } as never);
  const before = await stack.get(Secret, "pipecd");
  const foreign = { "piped-key": btoa("of another piped") };
  await stack.create(Secret, { kind: "Secret", metadata: { name: names.piped }, data: foreign } as never);
  await pipecd.apply("c", stack.namespace, corrected);
  await stack.ready(ControlPlane, names.plane);
  expect(await stack.refused(Piped, names.piped, "NameTaken")).toContain(`Secret ${names.piped}`);
  expect((await stack.get(Secret, names.piped)).data).toEqual(foreign);
  expect(stack.calls("RegisterPiped")).toEqual([]);
  await stack.delete(Secret, names.piped);
  await stack.ready(Application, names.application);
  expect(await stack.get(Secret, "pipecd")).toEqual(before);

  const { server } = await partDigests(stack);
  // Earlier events do not trigger a reconcile anymore.
  await pipecd.untilQuiet();
  const changed = { "encryption-key": key() };
  await stack.patch(Secret, "pipecd", { data: changed });
  await stack.until(DeploymentKind, `${names.plane}-server`, (found) => digestOf(found) !== server);
  await stack.ready(Application, names.application);
  expect((await stack.get(Secret, "pipecd")).data).toEqual({ ...data, ...changed });

  await pipecd.untilQuiet();
  await stack.patch(Secret, "pipecd", { data: { "encryption-key": btoa("short") } });
  expect(await stack.refused(ControlPlane, names.plane, "EncryptionKeyInvalid")).toContain("at least 32");
  expect((await stack.get(Secret, "pipecd")).data).toEqual({ ...data, "encryption-key": btoa("short") });
  await pipecd.untilQuiet();
  await stack.delete(Secret, "pipecd");
  await expect
    .poll(async () => (await stack.list(Secret)).some(({ metadata }) => metadata.name === "pipecd"), polling)
    .toBe(true);
  await stack.ready(ControlPlane, names.plane);
  await stack.ready(Application, names.application);
});
