/** `denrei dev --inspect`: a worker that a debugger has stopped keeps its in-flight requests. */
import { expect, test } from "vitest";
import { connectBus } from "../../bus/nats/connect.ts";
import { consumers, workStream } from "../../bus/subjects.ts";
import { freePort } from "../../deploy/local/index.ts";
import { testFolder } from "../cli/program.ts";
import { attach } from "./inspected.ts";
import { project, startDevThere } from "./project.ts";
import { firstLine, source } from "./stonecode.ts";
import { firstMark, put, stone, untilMarked } from "./stones.ts";

const file = "stones/pebble.ts";
const scope = { fn: "pebble", cluster: "default" };
/** After this time without progress, a request would be redelivered. */
const limits = { DENREI_ACK_WAIT_SECONDS: "5" };
/** Shorter than the pause in the debugger. */
const quick = { timeoutMillis: 5_000 };

test("a reconcile that is paused longer than all time limits completes as usual", async () => {
  const here = testFolder();
  const mine = project(here);
  mine.save(file, source(quick));
  const inspectorPort = await freePort();
  const args = ["--inspect-port", String(inspectorPort)];
  const { client, env, printed, running, ...dev } = await startDevThere(mine, args, limits);
  expect(dev.inspectorPort).toBe(inspectorPort);
  const editor = await attach(inspectorPort);
  await editor.breakAt(file, firstLine);
  await put(client, "held");
  await editor.paused();

  // An ordinary worker reconciles everything else, and would take this request too.
  const rival = mine.start(["worker", "pebble"], { ...env, ...limits, DENREI_LOG_LEVEL: "debug" });
  await rival.lines.until((line) => line.includes("worker ready"));
  const ticks = 16;
  await put(client, "clock", { spec: { ticks } });
  // 8 s in all: longer than the limit of a ticket and of a reconcile, which are 5 s each.
  await expect
    .poll(async () => (await stone(client, "clock")).status?.times, { timeout: 90_000, interval: 50 })
    .toBe(ticks);
  expect(rival.lines.all.filter((line) => line.includes("default/held"))).toEqual([]);
  expect((await stone(client, "held")).status).toBeUndefined();

  await editor.resume();
  expect(await firstMark(client, "held")).toBe("1");
  await printed(/ pebble default\/held {2}done \d+\.\d s, 1 write/);
  expect((await stone(client, "held")).status).toEqual({ mark: "1", times: 1 });
  const bus = await connectBus({ url: env.NATS_URL, name: "test" });
  const { delivered } = await bus.jsm.consumers.info(workStream("pebble"), consumers.worker(scope));
  const letters = await bus.jsm.streams.info("DEADLETTERS", { subjects_filter: ">" });
  await bus.nc.close();
  // Every ticket was delivered once.
  expect(delivered.consumer_seq).toBe(delivered.stream_seq);
  expect(letters.state.subjects ?? {}).toEqual({});
  expect(running.lines.all.filter((line) => /failed|lost|left alone/.test(line))).toEqual([]);
  rival.process.kill("SIGTERM");
  await rival.ended;

  // A save resumes the paused reconcile: the old code completes it, and the new code can be debugged at the same address.
  const again = await attach(inspectorPort);
  await again.breakAt(file, firstLine);
  await put(client, "saved-over");
  await again.paused();
  mine.save(file, source({ ...quick, mark: "2" }));
  await again.closed;
  await running.lines.until((line) => line.includes("pebble default/saved-over  done"));
  await running.lines.until((line) => line.includes("Code 2 runs"));
  await untilMarked(client, "saved-over", "2");
  const third = await attach(inspectorPort);
  await third.breakAt(file, firstLine);
  await put(client, "last");
  await third.paused();
  expect(running.lines.all.filter((line) => /Debugger|For help/.test(line))).toEqual([]);
  running.process.kill("SIGINT");
  expect(await running.ended).toMatchObject({ code: 130, signal: null });
  expect(here.processes()).toEqual([]);
  expect(here.runs()).toEqual([]);
});
