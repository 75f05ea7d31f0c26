/** Keys of PipeCD that are lost, or were there before: each is made once, kept, and made anew when there is no other way. */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Secret, type SecretObject } from "../../bus/kube/kind.ts";
import type { Stored } from "../../bus/kube/object.ts";
import { Application, ControlPlane, Piped } from "../../functions/pipecd/kinds.ts";
import { type Pipecd, startPipecd } from "../harness/pipecd.ts";
import {
  corrected,
  DeploymentKind,
  digestOf,
  emptyStack,
  enabledApplications,
  enabledPipeds,
  keyOf,
  names,
  partDigests,
  patience,
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

describe.concurrent("in namespaces of their own", sideBySide, () => {
  test.for(["c", "l0"] as const)(
    "the Secret of a piped that is deleted is made again, with a new key of the same piped (%s)",
    async (profile, { expect }) => {
      const stack = await startStack(pipecd, profile, `keys-piped-${profile}`);
      let before = await keyOf(stack);
      // More often than PipeCD keeps keys.
      for (let round = 0; round < 4; round++) {
        const digest = digestOf(await stack.get(DeploymentKind, names.piped));
        const since = stack.server().calls.length;
        await stack.delete(Secret, names.piped);
        await stack.until(DeploymentKind, names.piped, (found) => digestOf(found) !== digest);
        await stack.ready(Piped, names.piped);
        await untilLetIn(stack, since);
        const after = await keyOf(stack);
        expect(after.id).toBe(before.id);
        expect(after.key).not.toBe(before.key);
        before = after;
      }
      expect(stack.calls("RegisterPiped")).toHaveLength(1);
      expect(enabledPipeds(stack)).toMatchObject([{ id: before.id, name: "test-piped" }]);
      expect((await stack.ready(Piped, names.piped)).status?.pipedID).toBe(before.id);
      await stack.ready(Application, names.application);
    },
  );

  test("a Secret of a piped that has lost its key, or whose it is, gets a new one", async ({ expect }) => {
    const stack = await startStack(pipecd, "c", "keys-emptied");
    const before = await keyOf(stack);
    for (const patch of [
      { data: { "piped-key": null } },
      { metadata: { annotations: { "pipecd.kanatakita.com/piped-id": null } } },
    ]) {
      const digest = digestOf(await stack.get(DeploymentKind, names.piped));
      const since = stack.server().calls.length;
      await stack.patch(Secret, names.piped, patch);
      await stack.until(DeploymentKind, names.piped, (found) => digestOf(found) !== digest);
      await untilLetIn(stack, since);
      expect((await keyOf(stack)).id).toBe(before.id);
      await stack.ready(Piped, names.piped);
    }
    expect(stack.server().pipeds()).toHaveLength(1);
  });

  test("a Secret of a piped's name that is not its own is left alone, and the piped says so", async ({
    expect,
  }) => {
    const stack = await emptyStack(pipecd, "keys-taken");
    const data = { "piped-key": Buffer.from("somebody else's").toString("base64") };
    await stack.create(Secret, { kind: "Secret", metadata: { name: names.piped }, data } as never);
    await pipecd.apply("c", stack.namespace, corrected);
    await stack.ready(ControlPlane, names.plane);
    expect(await stack.refused(Piped, names.piped, "NameTaken")).toContain(`Secret ${names.piped}`);
    expect((await stack.get(Secret, names.piped)).data).toEqual(data);
    expect(stack.calls("RegisterPiped")).toEqual([]);
    await stack.delete(Secret, names.piped);
    await stack.ready(Application, names.application);
  });

  /** Two of them side by side: no two have the same key. */
  test("the Secret pipecd that is deleted is made again with a random key, all pods get it, and all goes on", async ({
    expect,
  }) => {
    const stacks = await Promise.all(
      ["keys-plane-1", "keys-plane-2"].map((namespace) => startStack(pipecd, "c", namespace)),
    );
    const keys: string[] = [];
    const keep = async (stack: Stack) => {
      const key = encryptionKey(await stack.get(Secret, "pipecd"));
      expect(key.length).toBeGreaterThanOrEqual(32);
      keys.push(key.toString());
    };
    for (const stack of stacks) await keep(stack);
    for (const stack of stacks) {
      const before = await partDigests(stack);
      await stack.delete(Secret, "pipecd");
      await stack.until(
        DeploymentKind,
        `${names.plane}-server`,
        (found) => digestOf(found) !== before.server,
      );
      await stack.ready(ControlPlane, names.plane);
      await stack.ready(Application, names.application);
      const after = await partDigests(stack);
      expect(Object.keys(after).filter((part) => after[part] !== before[part])).toEqual(["server", "ops"]);
      await keep(stack);
      // Whoever signs with the new key is let in.
      await stack.edit(Application, names.application, { cloudProvider: "another" });
      await stack.ready(Application, names.application);
      expect(enabledApplications(stack)).toMatchObject([{ provider: "another" }]);
      expect(enabledPipeds(stack)).toHaveLength(1);
    }
    expect(new Set(keys).size).toBe(4);
    expect(keys.filter((key) => /quickstart/.test(key))).toEqual([]);
  });
});

test("a Secret pipecd that was there before is used and never written, also when another key is put there", async () => {
  const stack = await emptyStack(pipecd, "keys-before");
  const key = () => randomBytes(40).toString("base64");
  const data = { "encryption-key": key(), other: "eA==" };
  await stack.create(Secret, { kind: "Secret", metadata: { name: "pipecd" }, data } as never);
  const before = await stack.get(Secret, "pipecd");
  await pipecd.apply("c", stack.namespace, corrected);
  await stack.ready(Application, names.application);
  expect(await stack.get(Secret, "pipecd")).toEqual(before);

  const { server } = await partDigests(stack);
  // What has happened so far wakes nobody any more.
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
    .poll(async () => (await stack.list(Secret)).some(({ metadata }) => metadata.name === "pipecd"), patience)
    .toBe(true);
  await stack.ready(ControlPlane, names.plane);
  await stack.ready(Application, names.application);
});
