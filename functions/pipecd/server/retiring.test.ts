import { Code, ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { PipecdError } from "../api/errors.ts";
import { callerFor, retiring } from "./retiring.ts";

const refused = new PipecdError("GetApplication", new ConnectError("no project", Code.PermissionDenied));

test("ends what can be ended, and keeps what PipeCD refuses, with the first error", async () => {
  const ended: string[] = [];
  const result = await retiring(["gone", "a", "gone too", "b"], async (one) => {
    if (one.startsWith("gone")) throw refused;
    ended.push(one);
  });
  expect(ended).toEqual(["a", "b"]);
  expect(result).toEqual({ left: ["gone", "gone too"], error: refused });
});

test("throws errors that are not PipeCD's", async () => {
  const lost = new Error("ownership lost");
  await expect(retiring(["a"], () => Promise.reject(lost))).rejects.toBe(lost);
});

test("uses the API key of an object for the project of the object alone", () => {
  const spec = { projectID: "q", insecure: true, apiKeySecretRef: { name: "key" } };
  expect(callerFor(spec, "q")).toEqual(spec);
  expect(callerFor(spec, "former")).toEqual({ projectID: "former", insecure: true });
});
