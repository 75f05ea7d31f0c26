/** etcd, one member, for data that nobody will miss. */
import { basename, join } from "node:path";
import { request } from "undici";
import type { Child } from "../run/child.ts";
import type { Run } from "../run/run.ts";
import type { PartOptions } from "./part.ts";
import { withFreePorts } from "./ports.ts";

/** A running etcd. */
export interface Etcd extends Child {
  /** Where clients connect: `http://127.0.0.1:port`. */
  readonly url: string;
}

/** Starts etcd on free ports of 127.0.0.1 with its data in the run's directory. */
export function startEtcd(run: Run, { binary, signal, onUnexpectedExit }: PartOptions): Promise<Etcd> {
  return withFreePorts(2, async ([clientPort, peerPort], attempt) => {
    // A name that no other etcd on this machine has: the answer to a probe tells that it is ours.
    const name = basename(run.directory);
    const url = `http://127.0.0.1:${clientPort}`;
    const peerUrl = `http://127.0.0.1:${peerPort}`;
    const child = run.child({
      name: "etcd",
      command: binary,
      args: [
        `--name=${name}`,
        // The peer's URL is part of the data: other ports need another directory.
        `--data-dir=${join(run.directory, `etcd-${attempt}`)}`,
        `--listen-client-urls=${url}`,
        `--advertise-client-urls=${url}`,
        `--listen-peer-urls=${peerUrl}`,
        `--initial-advertise-peer-urls=${peerUrl}`,
        `--initial-cluster=${name}=${peerUrl}`,
        // What fsync guards against is the loss of power, and then the run is lost anyway. A kill loses nothing.
        "--unsafe-no-fsync",
        // A member without peers need not wait for their votes.
        "--heartbeat-interval=25",
        "--election-timeout=250",
        "--quota-backend-bytes=8589934592",
        "--log-level=warn",
      ],
      ready: () => expectMember(url, name),
      readyMillis: 20_000,
      graceMillis: 2000,
      // A clean end takes a second and saves nothing: the data goes with the run.
      closingSignal: "SIGKILL",
      onUnexpectedExit,
    });
    await child.start(signal);
    return Object.assign(child, { url });
  });
}

/** Throws unless the etcd there has a leader and is the member of that name. */
async function expectMember(url: string, name: string): Promise<void> {
  const { body } = await request(`${url}/v3/cluster/member/list`, {
    method: "POST",
    body: "{}",
    headersTimeout: 2000,
    bodyTimeout: 2000,
    // A kept connection would only show that the previous process is gone.
    reset: true,
  });
  const answer = await body.text();
  if (!answer.includes(`"name":"${name}"`)) throw new Error(`it answered ${answer.slice(0, 200)}`);
}
