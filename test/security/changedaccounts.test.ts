/** A running installation whose users move into one account and back: the servers restart with the other file. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { busRoles } from "../../bus/permissions.ts";
import { ticketQueue } from "../../bus/queue/queue.ts";
import { newRequest } from "../../bus/queue/request.ts";
import { consumers, parseKeySubject, workStream } from "../../bus/subjects.ts";
import { ensureTopology } from "../../bus/topology.ts";
import { inOneAccount } from "../../deploy/authorization.ts";
import { cluster, mine, openParties, options, subscriptions } from "./parties.ts";

test("requests made before the move are reconciled after it", async () => {
  const folder = await mkdtemp(join(tmpdir(), "denrei-accounts-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const own = busRoles(subscriptions, cluster);
  const done: string[] = [];
  for (const [at, roles] of [own, inOneAccount(own), own].entries()) {
    const parties = await openParties(roles, { folder });
    try {
      await ensureTopology(parties.of("bridge"), options, subscriptions);
      const bus = parties.of(mine.fn);
      const workers = await bus.js.consumers.get(workStream(mine.fn), consumers.worker(mine));
      const ticket = at === 0 ? null : await workers.next({ expires: 60_000 });
      if (ticket !== null) done.push(parseKeySubject(ticket.subject).key.name);
      await ticket?.ackAck();
      const queue = ticketQueue(bus, mine, { replica: "test" });
      await queue.request({ namespace: "default", name: `thing-${at}` }, newRequest({ type: "replay" }));
    } finally {
      await parties.stop();
    }
  }
  expect(done).toEqual(["thing-0", "thing-1"]);
});
