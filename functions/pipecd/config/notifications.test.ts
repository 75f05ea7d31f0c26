import { expect, test } from "vitest";
import type { NotificationRoute } from "../kinds/notifications.ts";
import type { Profile } from "../profile.ts";
import { notificationsOf } from "./notifications.ts";
import { ConfigError, Problems } from "./problems.ts";

/** A route with the fields, as PipeCD reads it. Throws what is wrong with it. */
function routeOf(profile: Profile, fields: Partial<NotificationRoute>) {
  const problems = new Problems(profile, profile === "L0" ? "v0.9.0" : "v0.57.0");
  const { routes } = notificationsOf(
    {
      routes: [{ name: "x", receiver: "y", ...fields }],
      receivers: [{ name: "y", webhook: { url: "https://hooks.example.com" } }],
    },
    problems,
  );
  problems.end();
  return routes?.[0];
}

const path = "spec.config.notifications.routes[0]";

test("environments stay what they are up to v0.9.0", () => {
  expect(routeOf("L0", { envs: ["a", "b"], ignoreEnvs: ["c"] })).toEqual({
    name: "x",
    receiver: "y",
    envs: ["a", "b"],
    ignoreEnvs: ["c"],
  });
});

test("an environment becomes a label from v0.37.1", () => {
  expect(routeOf("C", { envs: ["a"], ignoreEnvs: ["c"], labels: { team: "t" } })).toEqual({
    name: "x",
    receiver: "y",
    labels: { env: "a", team: "t" },
    ignoreLabels: { env: "c" },
  });
  expect(routeOf("C", { envs: ["a"], labels: { env: "a" } })).toMatchObject({ labels: { env: "a" } });
});

test("no environment leaves labels as they are", () => {
  expect(routeOf("C", { envs: [], labels: { b: "", a: "1" } })).toEqual({
    name: "x",
    receiver: "y",
    labels: { a: "1", b: "" },
  });
  expect(routeOf("C", {})).toEqual({ name: "x", receiver: "y" });
});

test("several environments are refused from v0.37.1", () => {
  expect(() => routeOf("C", { envs: ["a", "b"], ignoreEnvs: ["c", "d"] })).toThrow(
    new ConfigError(
      ["envs", "ignoreEnvs"].map(
        (field) =>
          `${path}.${field}: from PipeCD v0.37.1 at most one environment: make a route for each of them`,
      ),
    ),
  );
});

test("an environment beside another one as a label is refused", () => {
  expect(() => routeOf("C", { envs: ["a"], labels: { env: "b" } })).toThrow(
    new ConfigError([`${path}: envs and the label env of labels are not the same`]),
  );
});
