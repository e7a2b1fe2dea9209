declare module 'swagger-ui-dist/swagger-ui-es-bundle.js' {
  const SwaggerUI: (options: Record<string, unknown>) => {
    preauthorizeApiKey(name: string, key: string): void
  }
  export default SwaggerUI
}
