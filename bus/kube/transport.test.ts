import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { kubeClient } from "./client.ts";
import { openConnection } from "./connection.ts";
import { ApiError } from "./errors.ts";
import { Secret } from "./kind.ts";

/** A connection to a server that answers everything with a 403 with this message, and the requests that it received. */
async function refusing(message: string) {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    response.writeHead(403, { "content-type": "application/json" });
    response.end(JSON.stringify({ kind: "Status", code: 403, reason: "Forbidden", message }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const access = {
    server: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{ context: "none", namespace: "default", tls: {}, headers: { authorization: "Bearer t" } },
  };
  const connection = await openConnection({ read: async () => access });
  onTestFinished(async () => {
    await connection.close();
    server.close();
    server.closeAllConnections();
  });
  return { connection, requests };
}

const cannot = 'pods is forbidden: User "u" cannot get resource "pods" in API group "" in the namespace "a"';
const errorOf = (call: Promise<unknown>): Promise<ApiError> =>
  call.then(
    () => expect.unreachable("the request is denied"),
    (error) => error,
  );
const at = { namespace: "a", name: "s" };

test("clients on one connection act as their own users, whose advice continues the error of a denied request", async () => {
  const { connection, requests } = await refusing(cannot);
  const account = "system:serviceaccount:denrei:denrei-one";
  const one = kubeClient(connection, undefined, {
    user: account,
    advise: ({ action, verbs }) => `. Add ${verbs} ${action?.resource}.`,
  });
  const error = await errorOf(one.get(Secret, at));
  expect(error.message).toMatch(/in the namespace "a"\. Add get secrets\.$/);
  expect(error.isDenied).toBe(true);
  await errorOf(kubeClient(connection).get(Secret, at));
  expect(requests.map(({ headers }) => [headers.authorization, headers["impersonate-user"]])).toEqual([
    ["Bearer t", account],
    ["Bearer t", undefined],
  ]);
});

test("an error does not contain what the request sent", async () => {
  const { connection } = await refusing(cannot);
  const secret = { apiVersion: "v1", kind: "Secret", metadata: at, stringData: { password: "hunter2" } };
  const error = await errorOf(kubeClient(connection).create(Secret, secret as never, { fieldManager: "x" }));
  expect(error).toBeInstanceOf(ApiError);
  expect(JSON.stringify({ ...error, message: error.message })).not.toContain("hunter2");
});

test("a denied log is an error, and one that the kubelet does not have is undefined", async () => {
  const log = async (message: string) =>
    kubeClient((await refusing(message)).connection).podLog(at, { container: "c", lines: 1 });
  await expect(log(cannot)).rejects.toThrow(/resources: \["pods\/log"\], verbs: \["get"\]/);
  expect(await log("the kubelet says no")).toBeUndefined();
});
