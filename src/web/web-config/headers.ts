import { isRecord } from "../../config/yaml/data.ts";
import type { YamlFile } from "../../config/yaml/file.ts";

/** The file with numbers and truth values among the headers as texts, as they are written: `X-XSS-Protection: 0`. */
export function withHeadersAsTexts(file: YamlFile): YamlFile {
  const { data } = file;
  const http = isRecord(data) ? data["http_server_config"] : undefined;
  const headers = isRecord(http) ? http["headers"] : undefined;
  if (!isRecord(data) || !isRecord(http) || !isRecord(headers)) return file;
  const texts = Object.entries(headers).map(([name, value]) => {
    const text = file.textAt(["http_server_config", "headers", name]);
    return [name, text ?? value] as const;
  });
  return {
    ...file,
    data: { ...data, http_server_config: { ...http, headers: Object.fromEntries(texts) } },
  };
}
