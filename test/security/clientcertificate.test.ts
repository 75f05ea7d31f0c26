/** What a connection to the API server shows of its user. */
import { once } from "node:events";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { DetailedPeerCertificate, TLSSocket } from "node:tls";
import { expect, onTestFinished, test } from "vitest";
import { kubeClient } from "../../bus/kube/client.ts";
import { openConnection } from "../../bus/kube/connection.ts";
import { createCertificateAuthority } from "../../deploy/local/pki.ts";

const authority = createCertificateAuthority("authority");
const user = authority.client({ user: "jane" });

/** The names in the certificates that a connection with this certificate presents, from the user's to its last issuer. */
async function presented(cert: string): Promise<string[]> {
  const names: string[] = [];
  // Without an authority of its own, which would complete the chain.
  const options = { ...authority.server(["127.0.0.1"]), requestCert: true, rejectUnauthorized: false };
  const server = createServer(options, (request, response) => {
    let one: DetailedPeerCertificate | undefined = (request.socket as TLSSocket).getPeerCertificate(true);
    for (; one !== undefined; one = one.issuerCertificate === one ? undefined : one.issuerCertificate)
      names.push(String(one.subject.CN));
    response.end("{}");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const access = {
    server: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{ context: "none", namespace: "default", headers: {} },
    tls: { ca: authority.cert, cert, key: user.key },
  };
  const connection = await openConnection({ read: async () => access });
  onTestFinished(async () => {
    await connection.close();
    server.close();
    server.closeAllConnections();
  });
  await kubeClient(connection).request({ method: "GET", path: "/version" });
  return names;
}

test("a client certificate is presented without its issuer, which the API server has", async () => {
  expect(await presented(user.cert)).toEqual(["jane"]);
});

test("a chain is presented as the kubeconfig has it", async () => {
  expect(await presented(`${user.cert}\n${authority.cert}`)).toEqual(["jane", "authority"]);
});
