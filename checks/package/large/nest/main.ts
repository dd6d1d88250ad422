import "reflect-metadata";
import { Body, Controller, HttpCode, Inject, Module, Post } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { type Client, createClient, type RerankRequest, type RerankResponse } from "tunerank";

const CLIENT = Symbol("tunerank");

@Controller()
class SearchController {
  constructor(@Inject(CLIENT) private readonly client: Client) {}

  @Post("search")
  @HttpCode(200)
  async search(@Body() body: RerankRequest): Promise<RerankResponse> {
    return await this.client.rerank(body);
  }
}

@Module({
  controllers: [SearchController],
  providers: [{ provide: CLIENT, useFactory: () => createClient() }],
})
class SearchModule {}

async function start(): Promise<void> {
  const app = await NestFactory.create(SearchModule, { logger: false });
  await app.listen(0, "127.0.0.1");
  console.log(app.getHttpServer().address().port);
}

void start();
