/**
 * Simulates GitHub's list of an App's deliveries, and redelivery. The package `emulate` has neither.
 * https://docs.github.com/en/rest/apps/webhooks
 */
import { type ApiAnswer, type ApiCall, type Endpoint, json, problem } from "./call.ts";
import type { Deliveries, Delivery } from "./deliveries.ts";

const base = "/app/hook/deliveries";
const paths = /^\/app\/hook\/deliveries(?:\/([^/]+)(\/attempts)?)?$/;

/** Serves the list. `authenticate` answers `GET /app` with the caller's headers. */
export function deliveryList(
  deliveries: Deliveries,
  authenticate: (headers: ApiCall["headers"]) => Promise<ApiAnswer>,
): Endpoint {
  return async ({ method, path, headers }) => {
    const url = new URL(path, `http://${headers.host}`);
    const matched = paths.exec(url.pathname);
    if (matched === null) return undefined;
    const [, id, attempts] = matched;
    if (method !== (attempts === undefined ? "GET" : "POST")) return problem(404, "Not Found");
    const app = await authenticate(headers);
    if (app.status !== 200) return app;
    const { id: appId } = JSON.parse(app.body.toString());
    const own = deliveries.all.filter((delivery) => delivery.app === appId);
    if (id === undefined) return page(own, url);

    const delivery = own.find((other) => String(other.id) === id);
    if (delivery === undefined) return problem(404, "Not Found");
    if (attempts === undefined) return json(200, details(delivery));
    // Like GitHub, does not wait for the target.
    void deliveries.redeliver(delivery);
    return json(202, {});
  };
}

/** Newest first. A cursor names the first delivery of its page, so new deliveries do not shift pages. */
function page(own: readonly Delivery[], url: URL): ApiAnswer {
  const query = url.searchParams;
  const size = Math.min(Number(query.get("per_page") ?? 30), 100);
  const from = /^v1_(\d+)$/.exec(query.get("cursor") ?? `v1_${Number.MAX_SAFE_INTEGER}`)?.[1];
  if (!(size >= 1)) return problem(422, "per_page must be a number from 1 to 100");
  if (from === undefined) return problem(422, "cursor must come from a Link header");

  const statusFilter = query.get("status");
  const list = own
    .filter(({ status }) => statusFilter === null || (statusFilter === "success") === (status === "OK"))
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
  return json(200, shown.map(summary), links.length > 0 ? { link: links.join(", ") } : {});
}

/** A delivery in the list. */
function summary({
  url: _url,
  request: _request,
  response: _response,
  app: _app,
  ...item
}: Delivery): object {
  return item;
}

/** A single delivery, with request and response. */
function details(delivery: Delivery): object {
  const { url, request, response } = delivery;
  return {
    ...summary(delivery),
    url,
    request: { headers: request.headers, payload: JSON.parse(request.payload) },
    response,
  };
}
