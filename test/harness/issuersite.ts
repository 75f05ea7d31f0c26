/** The address at which an API server looks for the issuer that it trusts: issuers with different settings can serve it in turn. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { freePort, holdPort, type IssuerEnvironment } from "../../deploy/local/index.ts";
import {
  type IssuerOptions,
  type SimulatedIssuer,
  startIssuer,
} from "../../deploy/simulators/login/issuer.ts";

/** The address. Issuers serve it one at a time; between two of them nothing answers there. */
export interface IssuerSite {
  /** As tokens have it: `https://127.0.0.1:port`. */
  readonly url: string;
  /** Path of the authority that signed its certificate, PEM. */
  readonly caPath: string;
  /** Starts an issuer there. Throws while another one listens. */
  start(options: Omit<IssuerOptions, "tls" | "port">): Promise<SimulatedIssuer>;
}

/**
 * Reserves an address, in the trust of one API server. An issuer that knows no users serves it at first: an API server that finds
 * none at its start looks again only after 10 s.
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
      if (vacate === undefined) throw new Error(`expected no issuer at ${first.url}, found one`);
      await vacate();
      vacate = undefined;
      const issuer = await startIssuer({ ...options, tls, port });
      return {
        ...issuer,
        async stop() {
          if (vacate !== undefined) return;
          await issuer.stop();
          // No other program is to get the port.
          vacate = (await holdPort(port, 1)).release;
        },
      };
    },
  };
}
