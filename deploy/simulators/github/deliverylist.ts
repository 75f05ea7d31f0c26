/**
 * A stand-in for GitHub's list of an App's deliveries and for redelivering them, which the package `emulate` does not have.
 * https://docs.github.com/en/rest/apps/webhooks
 */
import { type ApiAnswer, type ApiCall, type Endpoint, json, problem } from "./call.ts";
import type { Deliveries, Delivery } from "./deliveries.ts";

const base = "/app/hook/deliveries";
const paths = /^\/app\/hook\/deliveries(?:\/([^/]+)(\/attempts)?)?$/;

/** Serves the list; `authenticate` answers `GET /app`, as whoever asks. */
export function deliveryList(
  deliveries: Deliveries,
  authenticate: (headers: ApiCall["headers"]) => Promise<ApiAnswer>,
): Endpoint {
  return async ({ method, path, headers }) => {
    const url = new URL(path, `http://${headers.host}`);
    const asked = paths.exec(url.pathname);
    if (asked === null) return undefined;
    const [, id, attempts] = asked;
    if (method !== (attempts === undefined ? "GET" : "POST")) return problem(404, "Not Found");
    const app = await authenticate(headers);
    if (app.status !== 200) return app;
    const { id: appId } = JSON.parse(app.body.toString());
    const own = deliveries.all.filter((delivery) => delivery.app === appId);
    if (id === undefined) return page(own, url);

    const delivery = own.find((other) => String(other.id) === id);
    if (delivery === undefined) return problem(404, "Not Found");
    if (attempts === undefined) return json(200, whole(delivery));
    // GitHub does not wait for the target either.
    void deliveries.again(delivery);
    return json(202, {});
  };
}

/** Newest first. A cursor names the delivery that a page begins with, so that new ones move nothing. */
function page(own: readonly Delivery[], url: URL): ApiAnswer {
  const query = url.searchParams;
  const size = Math.min(Number(query.get("per_page") ?? 30), 100);
  const from = /^v1_(\d+)$/.exec(query.get("cursor") ?? `v1_${Number.MAX_SAFE_INTEGER}`)?.[1];
  if (!(size >= 1)) return problem(422, "expected per_page to be a number from 1 to 100");
  if (from === undefined) return problem(422, "expected cursor to be one of a Link header");

  const wanted = query.get("status");
  const list = own
    .filter(({ status }) => wanted === null || (wanted === "success") === (status === "OK"))
    .sort((a, b) => b.id - a.id);
  const start = list.findIndex(({ id }) => id <= Number(from));
  const shown = start < 0 ? [] : list.slice(start, start + size);
  const link = (rel: string, first: Delivery | undefined): string[] => {
    if (first === undefined) return [];
    query.set("cursor", `v1_${first.id}`);
    return [`<${url.origin}/api/v3${base}?${query}>; rel="${rel}"`];
  };
  const links = [
    ...link("next", list[start + shown.length]),
    ...link("prev", start > 0 ? list[Math.max(0, start - size)] : undefined),
  ];
  return json(200, shown.map(brief), links.length > 0 ? { link: links.join(", ") } : {});
}

/** As the list has it. */
function brief({ url: _url, request: _request, response: _response, app: _app, ...item }: Delivery): object {
  return item;
}

/** As one alone is shown. */
function whole(delivery: Delivery): object {
  const { url, request, response } = delivery;
  return {
    ...brief(delivery),
    url,
    request: { headers: request.headers, payload: JSON.parse(request.payload) },
    response,
  };
}
