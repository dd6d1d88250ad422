import "reflect-metadata";
import type { ServerResponse } from "node:http";
import { Controller, Get, HttpException, Inject, Module, Query, Res } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { type Client, createClient, isStatusError } from "tunerank";

const articles = [
  { title: "Rome", body: "Rome is in Italy." },
  { title: "Paris", body: "Paris is the capital of France." },
];
const CLIENT = Symbol("tunerank");

@Controller()
class SearchController {
  constructor(@Inject(CLIENT) private readonly client: Client) {}

  @Get("search")
  async search(
    @Query("q") query: string,
    @Res({ passthrough: true }) response: ServerResponse,
  ): Promise<string[]> {
    const controller = new AbortController();
    response.on("close", () => controller.abort());
    const { signal } = controller;
    try {
      const best = await this.client.rerank.items(query, articles, { text: ({ body }) => body, signal });
      return best.map(({ item }) => item.title);
    } catch (error) {
      if (!isStatusError(error)) throw error;
      const { code, message } = error;
      console.log(message);
      throw new HttpException({ code, message }, code === "INVALID_ARGUMENT" ? 400 : 502);
    }
  }
}

@Module({
  controllers: [SearchController],
  providers: [{ provide: CLIENT, useFactory: () => createClient() }],
})
class SearchModule {}

const app = await NestFactory.create(SearchModule, { logger: false });
await app.listen(process.env.PORT ?? 3000);
