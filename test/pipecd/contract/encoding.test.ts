/** Section 7b of the recording: requests in the encoding of the other service of v0.57.0. */
import { create, toBinary } from "@bufbuild/protobuf";
import { describe } from "vitest";
import { AddApplicationRequestSchema as ApiRequestSchema } from "../../../functions/pipecd/api/generated/c/apiservice_pb.ts";
import { AddApplicationRequestSchema as WebRequestSchema } from "../../../functions/pipecd/api/generated/c/webservice_pb.ts";
import { openEnvironment } from "./environment.ts";
import { createFixtures, reportPiped } from "./fixtures.ts";
import { fails, ok, row, tag } from "./rows.ts";
import { target } from "./target.ts";
import { keyHolder } from "./tokens.ts";

const environment = openEnvironment(() => target("C"));
const { raw, admin } = environment;
const fixtures = createFixtures(environment);
reportPiped(environment, fixtures);

const request = () => ({
  name: `crossed${tag}`,
  pipedId: fixtures.piped,
  gitPath: { repo: { id: "examples" }, path: "kubernetes/canary", configFilename: "app.pipecd.yaml" },
});
const labels = { env: "test-environment" };
const platformProvider = "kubernetes-default";
const unreadable = fails(
  13,
  "grpc: error unmarshalling request: proto: cannot parse invalid wire-format data",
);

type Extra = { labels?: typeof labels; platformProvider?: string };
const asWeb = (extra: Extra) =>
  toBinary(WebRequestSchema, create(WebRequestSchema, { ...request(), ...extra }));
const asApi = (extra: Extra) =>
  toBinary(ApiRequestSchema, create(ApiRequestSchema, { ...request(), ...extra }));
const toWeb = (body: Uint8Array) =>
  raw("web", "/grpc.service.webservice.WebService/AddApplication", admin(), body);
const toApi = (body: Uint8Array) =>
  raw("api", "/grpc.service.apiservice.APIService/AddApplication", keyHolder(fixtures.writer), body);

describe("AddApplication, whose fields for labels and provider have swapped numbers", () => {
  row("control: WebService itself", () => toWeb(asWeb({ labels, platformProvider })), ok());
  row("control: APIService itself", () => toApi(asApi({ labels, platformProvider })), ok());
  row(
    "WebService-encoded AddApplication sent to APIService",
    () => toApi(asWeb({ labels, platformProvider })),
    unreadable,
  );
  row(
    "APIService-encoded AddApplication sent to WebService",
    () => toWeb(asApi({ labels, platformProvider })),
    unreadable,
  );
  row("the same with provider only, no labels", () => toWeb(asApi({ platformProvider })), unreadable);
  row("the same with labels only, no provider", () => toApi(asWeb({ labels })), ok());
});

describe("invalid requests", () => {
  const get = (hex: string) =>
    raw("web", "/grpc.service.webservice.WebService/GetPiped", admin(), Buffer.from(hex, "hex"));
  row("a tag that does not end", () => get("ff"), unreadable);
  row("text that is cut off", () => get("0a05"), unreadable);
  row("field number 0", () => get("0200"), unreadable);
  row(
    "text that is no UTF-8",
    () => get("0a02c328"),
    fails(13, "grpc: error unmarshalling request: string field contains invalid UTF-8"),
  );
  row(
    "an unknown field",
    () => get("fa3f03616263"),
    fails(3, "invalid request: invalid GetPipedRequest.PipedId: value length must be at least 1 runes"),
  );
});
