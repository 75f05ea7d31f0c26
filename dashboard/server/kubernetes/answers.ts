/** Answers of the API server that the server itself reads. */
import type { Dispatcher } from "undici";
import { ApiError, type StatusBody } from "../../../bus/kube/errors.ts";
import type { ApiServer, AskedFor } from "./apiserver.ts";

/** Asks for something and reads it. Throws an `ApiError` when it is refused. */
export async function ask<T>(
  apiServer: Pick<ApiServer, "ask">,
  request: Pick<AskedFor, "path" | "token" | "signal"> &
    Partial<Pick<AskedFor, "method" | "body" | "headers">>,
): Promise<T> {
  const response = await apiServer.ask({ method: "GET", lasts: "short", ...request });
  if (response.statusCode >= 300) throw await refused(`${request.method ?? "GET"} ${request.path}`, response);
  return (await response.body.json()) as T;
}

/** The error in an answer. */
export async function refused(
  request: string,
  { statusCode, body }: Dispatcher.ResponseData,
): Promise<ApiError> {
  const text = await body.text();
  let status: StatusBody;
  try {
    status = JSON.parse(text) as StatusBody;
  } catch {
    status = { message: text.slice(0, 300) };
  }
  return new ApiError(request, statusCode, status);
}
