/** A site of somebody else's. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A site that is served. */
export interface OtherSite {
  /** By the name of its host: `localhost` is another site than `127.0.0.1`, which differs from the dashboard's by its port alone. */
  at(host: "localhost" | "127.0.0.1", path?: string): string;
  stop(): Promise<void>;
}

/** Serves pages of HTML, by their paths. */
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
