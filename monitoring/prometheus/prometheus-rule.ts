/** The rules as a resource of the Prometheus Operator: the same text, indented. `npm run rules` writes it. */
export function formatPrometheusRule(rules: string): string {
  return `# Made of monitoring/prometheus/appliance-exporter.rules.yml by \`npm run rules\`.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: appliance-exporter
  labels:
    app.kubernetes.io/name: appliance-exporter
spec:
${rules.replaceAll(/^(?=.)/gm, "  ")}`;
}
