/** Expired certificates of the bus, its users' and its own. Each takes effect at the next connection. */
import { authorizationText, certificateUsers } from "../../../deploy/authorization.ts";
import { createCertificateAuthority, type KeyPair } from "../../../deploy/local/pki.ts";
import { Probe } from "../../fixtures/functions/probe.ts";
import type { Replica, TestEnvironment } from "../../harness/environment.ts";
import { testRoles } from "../../harness/roles.ts";
import { secretWith, startTlsBus, type TlsBus } from "../../harness/tlsbus.ts";
import type { Check, Outcome, Trial } from "../scenario.ts";
import { errorsOf, mentions, probePath, put, settled, untilReadiness } from "./outage.ts";

const roles = [...testRoles(), { name: "trial", permissions: undefined, account: "bus" as const }];
const users = ["bridge", "probe", "trial"];
const secretOf = (user: string): string => `denrei-${user}-tls`;

/** Expires the users' certificates, then the server's. Meanwhile a worker starts and objects change. */
export async function busExpires(
  trial: Trial,
  environment: TestEnvironment,
  objects: number,
): Promise<Outcome> {
  const authority = createCertificateAuthority();
  const past = { to: new Date(Date.now() - 60_000) };
  const mounted = (name: string, keys: KeyPair) => secretWith(name, authority.cert, keys);
  const ofUser = (user: string, validity = {}) =>
    mounted(secretOf(user), authority.client({ user: `denrei-${user}` }, validity));
  const ofServer = (validity = {}) =>
    mounted("nats-tls", authority.server(["localhost", "127.0.0.1"], validity));
  const tls = await startTlsBus(environment.platform, [ofServer(), ...users.map((user) => ofUser(user))], {
    authorization: authorizationText(certificateUsers(roles)),
  });
  const env = (user: string) => tls.env(secretOf(user));
  const { NATS_URL: url, NATS_CA: ca, NATS_CERT: certificate, NATS_KEY: key } = env("trial");
  const startWorker = (name: string, until: "ready" | "serving") =>
    environment.worker(name, [probePath], { env: env("probe"), until });
  const bridge = await environment.bridge("bridge-tls", { args: [probePath], env: env("bridge") });
  const running = [bridge, await startWorker("worker-tls-1", "ready")];
  const before = await environment.list(Probe);
  const desired = new Map(before.map(({ metadata, spec }) => [metadata.name, spec.value ?? 0]));

  /** Restarts the server, so that running and new processes are refused, changes objects, and renews the certificate. */
  async function outage(
    what: string,
    message: string,
    renew: () => Promise<void>,
  ): Promise<readonly Check[]> {
    await restart(tls);
    trial.say(`${what} expired, nats-server restarted`);
    const late = await startWorker(`worker-tls-${running.length}`, "serving");
    for (let i = 0; i < objects; i++) {
      const name = `${what.replaceAll(/\W+/g, "-")}-${i}`;
      await put(environment, name, i);
      desired.set(name, i);
    }
    const all = [...running, late];
    const refused = (replica: Replica) =>
      untilReadiness(replica, ({ status, text }) => status === 503 && text.includes(message));
    const answers = await Promise.all(all.map(refused));
    const errors = errorsOf(late);
    await renew();
    trial.say(`${what} renewed`);
    running.push(late);
    await Promise.all(running.map((replica) => untilReadiness(replica, ({ status }) => status === 200)));
    return [
      mentions(`${what} expired: bridge readiness`, message, answers[0]?.text ?? ""),
      mentions(`${what} expired: new worker's readiness`, message, answers.at(-1)?.text ?? ""),
      mentions(`${what} expired: logged error`, message, String(errors.at(-1)?.msg)),
      ...(await settled(environment, `${what} expired`, desired, { url, ca, certificate, key })),
    ];
  }

  for (const user of ["bridge", "probe"]) await tls.mount(ofUser(user, past));
  const ofUsers = await outage("bus user certificates", "seems to reject the one of", async () => {
    for (const user of ["bridge", "probe"]) await tls.mount(ofUser(user));
  });
  await tls.mount(ofServer(past));
  const ofBus = await outage("bus server certificate", "Renew the NATS server's certificate", async () => {
    await tls.mount(ofServer());
    await restart(tls);
  });
  await Promise.all(running.map((replica) => replica.stop()));
  await tls.servers[0]?.child.stop();
  return {
    injected: ["bus user certificates expired, then renewed", "bus server certificate expired, then renewed"],
    checks: [...ofUsers, ...ofBus],
  };
}

async function restart({ servers: [nats] }: TlsBus): Promise<void> {
  await nats?.child.stop("SIGKILL");
  await nats?.child.start();
}
