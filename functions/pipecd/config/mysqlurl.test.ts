import { expect, test } from "vitest";
import { type MysqlFields, mysqlProblem } from "./mysqlurl.ts";

test.each<readonly [Omit<MysqlFields, "hasFiles">, "url" | "database", string]>([
  [{ url: "u:p@tcp(m)", database: "d?x=y" }, "database", "without / and ?"],
  [{ url: "u:p@tcp(m)", database: "d/e" }, "database", "without / and ?"],
  [{ url: "u:p@tcp(m)/d", database: "d" }, "url", "remove one of them"],
  [{ url: "u:p@tcp(m)/", database: "d" }, "url", "remove one of them"],
  [{ url: "u:p@tcp(m)/d?parseTime=true" }, "url", "expected no parameters"],
  [{ url: "u:p@tcp(m)/" }, "url", "after the last /"],
  [{ url: "u:p@tcp(m)" }, "url", "or the field database"],
  [{ url: "u:p/q@tcp(m)" }, "url", "a password with / needs the field database"],
])("reports the field of %j, and what to change", (fields, field, problem) => {
  expect(mysqlProblem({ ...fields, hasFiles: false })).toEqual({
    field,
    problem: expect.stringContaining(problem),
  });
});

test("accepts only the address if user and password are in files", () => {
  const of = (url: string) => mysqlProblem({ url, database: "d", hasFiles: true });
  expect(of("m:3306")).toBeUndefined();
  expect(of("u:p@tcp(m:3306)")).toMatchObject({ field: "url", problem: expect.stringContaining("in files") });
});
