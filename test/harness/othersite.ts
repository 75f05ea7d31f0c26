/** A website of a third party. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A running site. */
export interface OtherSite {
  /** The URL for a host name. `localhost` is another site than `127.0.0.1`, which differs from the dashboard's origin only by its port. */
  at(host: "localhost" | "127.0.0.1", path?: string): string;
  stop(): Promise<void>;
}

/** Serves HTML pages by their paths. */
export async function startOtherSite(pages: Readonly<Record<string, string>>): Promise<OtherSite> {
  const server = createServer(({ url = "" }, response) => {
    const html = pages[url];
    response
      .writeHead(html === undefined ? 404 : 200, { "content-type": "text/html; charset=utf-8" })
      .end(html);
  });
  await new Promise<void>((resolve) => server.listen(0, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    at: (host, path = "/") => `http://${host}:${port}${path}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
