/** etcd with one member, for disposable data. */
import { basename, join } from "node:path";
import { request } from "undici";
import type { Child } from "../run/child.ts";
import type { Run } from "../run/run.ts";
import type { PartOptions } from "./part.ts";
import { withFreePorts } from "./ports.ts";

/** A running etcd. */
export interface Etcd extends Child {
  /** Client URL: `http://127.0.0.1:port`. */
  readonly url: string;
}

/** Starts etcd on free ports of 127.0.0.1 with its data in the run's directory. */
export function startEtcd(run: Run, { binary, signal, onUnexpectedExit }: PartOptions): Promise<Etcd> {
  return withFreePorts(2, async ([clientPort, peerPort], attempt) => {
    // Unique on this machine, so that a probe can verify that it reached this etcd.
    const name = basename(run.directory);
    const url = `http://127.0.0.1:${clientPort}`;
    const peerUrl = `http://127.0.0.1:${peerPort}`;
    const child = run.child({
      name: "etcd",
      command: binary,
      args: [
        `--name=${name}`,
        // The peer URL is part of the data, so an attempt with other ports needs another directory.
        `--data-dir=${join(run.directory, `etcd-${attempt}`)}`,
        `--listen-client-urls=${url}`,
        `--advertise-client-urls=${url}`,
        `--listen-peer-urls=${peerUrl}`,
        `--initial-advertise-peer-urls=${peerUrl}`,
        `--initial-cluster=${name}=${peerUrl}`,
        // fsync only protects against a power failure, which ends the run anyway. Killing etcd loses nothing.
        "--unsafe-no-fsync",
        // A single member needs no votes from peers.
        "--heartbeat-interval=25",
        "--election-timeout=250",
        "--quota-backend-bytes=8589934592",
        "--log-level=warn",
      ],
      ready: () => expectMember(url, name),
      readyMillis: 20_000,
      graceMillis: 2000,
      // A graceful end takes a second and saves nothing, since the data is removed with the run.
      closingSignal: "SIGKILL",
      onUnexpectedExit,
    });
    await child.start(signal);
    return Object.assign(child, { url });
  });
}

/** Throws unless the etcd at this URL has a leader and the expected member name. */
async function expectMember(url: string, name: string): Promise<void> {
  const { body } = await request(`${url}/v3/cluster/member/list`, {
    method: "POST",
    body: "{}",
    headersTimeout: 2000,
    bodyTimeout: 2000,
    // A reused connection would only report that the previous process has ended.
    reset: true,
  });
  const answer = await body.text();
  if (!answer.includes(`"name":"${name}"`)) throw new Error(`it answered ${answer.slice(0, 200)}`);
}
