/** The address of the issuer that an API server trusts. Issuers with different settings can serve it in turn. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { freePort, type IssuerEnvironment } from "../../deploy/local/index.ts";
import {
  type IssuerOptions,
  type SimulatedIssuer,
  startIssuer,
} from "../../deploy/simulators/login/issuer.ts";

/** The address. One issuer serves it at a time; in between, nothing answers. */
export interface IssuerSite {
  /** The issuer URL in tokens: `https://127.0.0.1:port`. */
  readonly url: string;
  /** Path of the CA of its certificate, PEM. */
  readonly caPath: string;
  /** Starts an issuer there. Throws while another one listens. */
  start(options: Omit<IssuerOptions, "tls" | "port">): Promise<SimulatedIssuer>;
}

/**
 * Reserves an address that one API server trusts. An issuer without users serves it at first, because an API server that finds no issuer
 * at its start retries only after 10 s.
 */
export async function issuerSite({ ca, server, directory }: IssuerEnvironment): Promise<IssuerSite> {
  const caPath = join(directory, "issuer-ca.crt");
  await writeFile(caPath, ca);
  const tls = server(["127.0.0.1"]);
  const port = await freePort();
  const first = await startIssuer({ people: [], dashboardUrl: "http://127.0.0.1", tls, port });
  let vacate: (() => Promise<void>) | undefined = first.stop;
  return {
    url: first.url,
    caPath,
    async start(options) {
      if (vacate === undefined) throw new Error(`another issuer already listens at ${first.url}`);
      await vacate();
      vacate = undefined;
      const issuer = await startIssuer({ ...options, tls, port });
      return {
        ...issuer,
        async stop() {
          if (vacate !== undefined) return;
          await issuer.stop();
          // Nobody listens now, but the port stays reserved.
          vacate = async () => undefined;
        },
      };
    },
  };
}
